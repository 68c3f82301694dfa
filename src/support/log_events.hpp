#pragma once

#include "support/petsc.hpp"

namespace concord {

/// The phases of a run in PETSc's -log_view.
struct LogEvents {
  PetscLogEvent advance = 0;   ///< integration of this rank's subsystems
  PetscLogEvent exchange = 0;  ///< dispatch of outputs to inputs
  PetscLogEvent solve = 0;     ///< coupling solve (contains advance and exchange)
  PetscLogEvent record = 0;    ///< results file
};

/// Registered with PETSc at the first call.
const LogEvents& log_events();

/// One event from construction to the end of the scope.
class LogScope {
 public:
  explicit LogScope(PetscLogEvent event) : event_(event) {
    PetscLogEventBegin(event_, nullptr, nullptr, nullptr, nullptr);
  }
  ~LogScope() { PetscLogEventEnd(event_, nullptr, nullptr, nullptr, nullptr); }
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

 private:
  PetscLogEvent event_;
};

}  // namespace concord
