#pragma once

#include <cstdint>

#include "coupling/coupling.hpp"

namespace concord {

/// One accepted macro-step, as monitors and the recorder see it; the same on every rank but for
/// `point`, which is this rank's.
struct StepReport {
  std::int64_t index = 0;  ///< of the communication point reached; 1 after the first macro-step
  MacroStep step;
  CouplingReport coupling;
  std::int32_t rejections = 0;
  double error_estimate = 0.0;
  double wall_time = 0.0;  ///< seconds
  const CommunicationPoint* point = nullptr;
  std::span<const double> states = {};  ///< this rank's, where the subsystems have moved on
};

/// Sees every accepted macro-step.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void step_accepted(const StepReport& report) = 0;
};

}  // namespace concord
