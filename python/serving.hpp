#pragma once

#include "calls.hpp"

namespace concord::python {

/// The end of a link at which a subsystem in Python answers a run's questions.
void define_serving(py::module_& m);

}  // namespace concord::python
