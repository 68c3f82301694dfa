#pragma once

#include <array>

#include "support/petsc.hpp"
#include "support/phases.hpp"

namespace concord {

/// The phases of a run in PETSc's -log_view: CosimAdvance and so on.
class LogEvents {
 public:
  LogEvents();
  PetscLogEvent operator[](Phase phase) const { return events_[static_cast<std::size_t>(phase)]; }
  /// The run's estimate of its own error, apart from the run.
  PetscLogStage estimate_stage() const { return estimate_; }

 private:
  std::array<PetscLogEvent, n_phases> events_{};
  PetscLogStage estimate_ = 0;
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
