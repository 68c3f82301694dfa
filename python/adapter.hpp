#pragma once

#include "subsystem/python/python_adapter.hpp"

namespace concord::python {

/// What the library makes subsystems in Python with.
const PythonAdapter& adapter();

}  // namespace concord::python

/// The library's way here where no Python runs Concord (python_adapter_function).
extern "C" __attribute__((visibility("default"))) const concord::PythonAdapter*
concord_python_adapter();
