#pragma once

#include "support/petsc.hpp"

namespace concord {

/// The phases of a run in PETSc's -log_view.
struct LogEvents {
  PetscLogEvent advance = 0;   ///< integration of this rank's subsystems
  PetscLogEvent exchange = 0;  ///< dispatch of outputs to inputs
  PetscLogEvent solve = 0;     ///< coupling solve (contains advance and exchange)
  PetscLogEvent record = 0;    ///< results file
  PetscLogStage estimate = 0;  ///< the run's estimate of its own error, apart from the run
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

/// One stage from construction to the end of the scope.
class LogStageScope {
 public:
  explicit LogStageScope(PetscLogStage stage) { PetscLogStagePush(stage); }
  ~LogStageScope() { PetscLogStagePop(); }
  LogStageScope(const LogStageScope&) = delete;
  LogStageScope& operator=(const LogStageScope&) = delete;
};

}  // namespace concord
