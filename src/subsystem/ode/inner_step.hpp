#pragma once

#include <span>
#include <vector>

#include "subsystem/ode/erk_pair.hpp"
#include "subsystem/ode/right_hand_side.hpp"

namespace concord {

/// A part of a micro-step as the explicit pair takes it: where the micro-step was one of the same
/// pair, a macro-step that ends there gives the same states.
class InnerStep {
 public:
  InnerStep(CheckedModel& checked, RightHandSide& rhs);

  /// From tau with x and slopes f, of this size. Whether it is within the integrator's tolerance,
  /// which it isn't where the model is stiff for it.
  bool take(double tau, std::span<const double> x, std::span<const double> f, double size);

  /// Where it has led, and f there.
  std::span<const double> x() const { return x_; }
  std::span<const double> f() const { return f_; }

 private:
  bool derive(double tau, std::span<const double> x, std::span<double> f);

  CheckedModel& checked_;
  RightHandSide& rhs_;
  ErkStages stages_;
  std::vector<double> x_, f_, weights_;
};

}  // namespace concord
