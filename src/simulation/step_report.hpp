#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "coupling/coupling.hpp"

namespace concord {

/// What attempts at a macro-step cost, as in CouplingReport.
struct Effort {
  std::int32_t iterations = 0;
  std::int32_t evaluations = 0;
  std::int32_t linear_iterations = 0;

  Effort& operator+=(const CouplingReport& report) {
    iterations += report.iterations;
    evaluations += report.evaluations;
    linear_iterations += report.linear_iterations;
    return *this;
  }
};

/// What happened at a communication point: a relation or a condition of a subsystem changed, a tick
/// came.
struct EventReport {
  std::size_t subsystem = 0;  ///< in the whole network
  std::string what;           ///< as its user wrote it ("gap < 0", "every 0.01")
};

/// One accepted macro-step, as monitors and the recorder see it; the same on every rank but for
/// `point`, which is this rank's.
struct StepReport {
  std::int64_t index = 0;  ///< of the communication point reached; 1 after the first macro-step
  MacroStep step;
  CouplingReport coupling;  ///< how it ended; its effort is that of rejected attempts too
  std::int32_t rejections = 0;
  double error_estimate = 0.0;
  double wall_time = 0.0;  ///< seconds
  const CommunicationPoint* point = nullptr;
  std::span<const double> states = {};  ///< this rank's, where the subsystems have moved on
  /// At the macro-step's end, where `point` has the right limits; of the whole network.
  std::span<const EventReport> events = {};
  std::span<const Sample> left_outputs = {};  ///< this rank's left limits there; empty without
  std::span<const Sample> left_inputs = {};   ///< likewise; empty where they are not known
  std::span<const double> left_states = {};   ///< likewise
};

/// Sees every accepted macro-step.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void step_accepted(const StepReport& report) = 0;
};

}  // namespace concord
