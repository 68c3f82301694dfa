#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "support/petsc.hpp"

namespace concord {

/// What a run's time goes into; `step`, whole macro-steps, contains all but the last three, and
/// `solve` (of the coupling), which may contain advance and exchange, contains no estimate.
enum class Phase : std::uint8_t { step, advance, exchange, solve, estimate, record, checkpoint };
inline constexpr std::size_t n_phases = 7;
inline constexpr std::array<const char*, n_phases> phase_words = {
    "step", "advance", "exchange", "solve", "estimate", "record", "checkpoint"};

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
