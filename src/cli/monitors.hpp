#pragma once

#include <chrono>

#include "settings/settings.hpp"
#include "simulation/pacing.hpp"
#include "simulation/step_report.hpp"

namespace concord {

/// -cosim_monitor: a line per macro-step, in the manner of PETSc's monitors. Rank 0 only.
class StepMonitor : public StepObserver {
 public:
  void step_accepted(const StepReport& report) override;
};

/// -cosim_progress: one line, rewritten on a terminal and repeated every few seconds elsewhere,
/// with the share done and the time left. Rank 0 only.
class ProgressLine : public StepObserver {
 public:
  /// `lateness`: of what goes by the clock.
  ProgressLine(double start, double stop, const Lateness& lateness);
  ~ProgressLine() override;
  void step_accepted(const StepReport& report) override;

 private:
  using Clock = std::chrono::steady_clock;
  void print(double time, double elapsed);

  double start_, stop_;
  const Lateness& lateness_;
  bool terminal_;
  Clock::time_point began_;
  Clock::time_point next_;
};

}  // namespace concord
