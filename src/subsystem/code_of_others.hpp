#pragma once

#include "concord/subsystem.hpp"

namespace concord {

/// Whether what it does is known to nobody but itself: an FMU, a class in C++ or Python.
inline bool is_code_of_others(const SubsystemDescription& description) {
  return description.kind == "fmu" || description.kind == "native" || description.kind == "python";
}

}  // namespace concord
