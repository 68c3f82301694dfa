#pragma once

#include "concord/subsystem.hpp"

namespace concord {

/// Whether it is a process that Concord has not started: who knows what it does beside computing.
inline bool is_outside(const SubsystemDescription& description) {
  return description.kind == "remote";
}

/// Whether what it does is known to nobody but itself: an FMU, a class in C++ or Python, a process
/// outside.
inline bool is_code_of_others(const SubsystemDescription& description) {
  return description.kind == "fmu" || description.kind == "native" ||
         description.kind == "python" || is_outside(description);
}

}  // namespace concord
