#pragma once

#include "calls.hpp"

namespace concord::python {

/// Results files as pictures and reports read them, and the files that these write.
void define_recorded(py::module_& m);

}  // namespace concord::python
