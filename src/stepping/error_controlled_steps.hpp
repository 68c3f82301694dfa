#pragma once

#include <vector>

#include "stepping/step_controller.hpp"

namespace concord {

/// Step sizes from an error estimate by a PI controller (Gustafsson 1991; Hairer and Wanner,
/// Solving ODEs II, IV.2): with err = sqrt(mean_i (EST_i / (ATOL_i + RTOL_i |y_i|))^2) and EST =
/// O(h^{q+1}),
///
///     h_new = 0.9 h (1/err)^{0.7/(q+1)} err_last^{0.4/(q+1)}        after an accepted step,
///     h_new = 0.9 h (1/err)^{1/(q+1)}                               after a rejected one.
///
/// A step may also be accepted with err > 1, where it cannot be taken back: the next one is
/// smaller. Macro-steps end exactly at `stop` and at each of `events`; a step that would leave a
/// small rest before such a time is halved instead.
class ErrorControlledSteps : public StepController {
 public:
  struct Limits {
    double start;
    double stop;
    double largest;
    double smallest;
  };

  /// `first`: size of the first macro-step; `events`: as in Course.
  ErrorControlledSteps(const Limits& limits, double first, const std::vector<double>& events = {});

  Interval propose() const override;
  bool finished() const override { return course_.finished(); }

  /// `error_norm`: err above, `order`: q. The proposed macro-step is kept.
  void accept(double error_norm, int order) override;

  /// The proposed macro-step is not kept. False: no smaller step is allowed.
  bool reject(double error_norm, int order) override;

  /// Without an estimate: the size is kept, or halved as in IterationSteps.
  void accepted() override;
  bool rejected() override;

 private:
  void move_on();
  bool shrink(double factor);

  Limits limits_;
  Course course_;
  double size_;
  double last_error_ = 1.0;
  bool after_rejection_ = false;
};

}  // namespace concord
