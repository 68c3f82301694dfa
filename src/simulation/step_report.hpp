#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

/// Why an attempt at a macro-step was not kept: its error, a coupling that did not converge, a
/// subsystem that failed, an event inside.
enum class Rejection { error, coupling, subsystem, event };
inline constexpr std::array<const char*, 4> rejection_words = {"error", "coupling", "subsystem",
                                                               "event"};
using Rejections = std::array<std::int32_t, rejection_words.size()>;

/// What happened at a communication point: a relation or a condition of a subsystem changed, a tick
/// came.
struct EventReport {
  std::size_t subsystem = 0;  ///< in the whole network
  std::string what;           ///< as its user wrote it ("gap < 0", "every 0.01")
};

/// Of all variables of this rank at a communication point, before what happens there.
struct LeftLimits {
  std::vector<Sample> outputs, inputs;
  std::vector<double> states;
  std::vector<double> state_slopes;  ///< NaN where they are not known; empty: nowhere
  bool slopes_known = false;         ///< of outputs and inputs
};

/// One accepted macro-step, as monitors and the recorder see it; the same on every rank but for
/// `point`, which is this rank's.
struct StepReport {
  std::int64_t index = 0;  ///< of the communication point reached; 1 after the first macro-step
  MacroStep step;
  CouplingReport coupling;  ///< how it ended; its effort is that of rejected attempts too
  std::int32_t rejections = 0;
  Rejections rejected_for{};  ///< by Rejection
  double error_estimate = 0.0;
  double wall_time = 0.0;  ///< seconds
  const CommunicationPoint* point = nullptr;
  std::span<const double> states = {};  ///< this rank's, where the subsystems have moved on
  /// Where rows are wanted between its ends (GridRows).
  std::span<const PassedPoint> inside = {};
  /// At the macro-step's end, where `point` has the right limits; of the whole network.
  std::span<const EventReport> events = {};
  const LeftLimits* left = nullptr;  ///< there; null where nothing has been told
};

/// Sees every accepted macro-step.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void step_accepted(const StepReport& report) = 0;
};

}  // namespace concord
