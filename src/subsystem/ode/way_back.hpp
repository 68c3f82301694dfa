#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "subsystem/ode/integrator.hpp"
#include "subsystem/ode/right_hand_side.hpp"

namespace concord {

/// Integrates again what was integrated, up to another time: with an integrator of the same kind,
/// on which nothing else depends.
class WayBack {
 public:
  WayBack(CheckedModel& model, IntegratorKind kind);

  /// A way begins, with what the other integrator has found out; null, or of another kind: with
  /// nothing.
  void begin(Integrator* other);

  /// `x` at step.begin becomes that at step.end; errors are weighed by `weights`. False, and x is
  /// meaningless, where that fails.
  bool follow(const MacroStep& step, std::span<const Polynomial> inputs,
              const ErrorWeights& weights, std::span<double> x);

  /// Of the last call.
  std::span<const Sample> end_inputs() const { return end_inputs_; }

 private:
  RightHandSide rhs_;
  std::unique_ptr<Integrator> integrator_;  ///< null without states
  std::vector<std::byte> fresh_;            ///< its course when it was made
  std::vector<double> x_end_;
  std::vector<Sample> end_inputs_;
};

}  // namespace concord
