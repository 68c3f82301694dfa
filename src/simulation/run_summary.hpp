#pragma once

#include "simulation/pacing.hpp"
#include "simulation/step_report.hpp"

namespace concord {

/// What the whole run has cost.
struct RunSummary : StepObserver {
  std::int64_t steps = 0;
  std::int64_t rejections = 0;
  std::array<std::int64_t, rejection_words.size()> rejected_for{};
  std::int64_t at_noise = 0;  ///< macro-steps whose coupling met the integrators' noise only
  double noise = 0.0;         ///< how far above the coupling tolerance, at most
  std::int64_t evaluations = 0;
  std::int64_t iterations = 0;
  std::int64_t linear_iterations = 0;
  std::int64_t nodes = 0;   ///< of all macro-steps
  std::int64_t events = 0;  ///< of subsystems
  double smallest_step = 0.0;
  double largest_step = 0.0;
  Lateness lateness;  ///< of a run that goes by the clock
  void step_accepted(const StepReport& report) override;
  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, steps, rejections, rejected_for, at_noise, noise, evaluations,
                    iterations, linear_iterations, nodes, events, smallest_step, largest_step,
                    lateness);
  }
  int memory_version() const { return 2; }
};

}  // namespace concord
