#pragma once

namespace concord {

/// How much of its tolerance the step control may use up, so that the error of the whole run is
/// near the tolerance rather than that of each macro-step.
///
/// Errors of macro-steps add up: for good where nothing is damped, not at all where they die out
/// quickly. How they have, the run's own estimate E(t) tells, in units of the tolerance. With its
/// recent growth per time and share s, dE/(s dt), and T the end of the run,
///
///     s = (E_wanted - E(t)) / (growth (T - t)),    within bounds;
///
/// "recent" is a fraction of the time that has passed.
class ErrorBudget {
 public:
  explicit ErrorBudget(double duration) : duration_(duration) {}

  /// After `elapsed` of the duration the error is `error`.
  void observe(double elapsed, double error);

  /// s: what err of a macro-step is to be at most, in units of its tolerance.
  double share() const { return share_; }

 private:
  double duration_;
  double share_ = 1.0;
  double elapsed_ = 0.0, error_ = 0.0;  ///< at the last observation
  double growth_ = 0.0;
};

}  // namespace concord
