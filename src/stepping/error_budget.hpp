#pragma once

#include "concord/archive.hpp"

namespace concord {

/// How much of its tolerance the step control may use up, so that the error of the whole run is
/// near the tolerance rather than that of each macro-step.
///
/// Errors of macro-steps add up: for good where nothing is damped, not at all where they die out
/// quickly. How they have, the run's own estimate E(t) tells, in units of the tolerance. With its
/// growth since a quarter to half of the time passed, per time and share s, and T the end of the
/// run,
///
///     s = (E_wanted - E(t)) / (growth (T - t)),    within bounds;
///
/// where E is near what is wanted or above, it may still grow by a part of itself.
class ErrorBudget {
 public:
  explicit ErrorBudget(double duration) : duration_(duration) {}

  /// After `elapsed` of the duration the error is `error`.
  void observe(double elapsed, double error);

  /// s: what err of a macro-step is to be at most, in units of its tolerance.
  double share() const { return share_; }
  /// The largest that s can become.
  static constexpr double most = 2.0;
  /// E, and by how much it may grow.
  double error() const { return now_.error; }
  double free() const;
  double rest() const { return duration_ - now_.elapsed; }  ///< s

  void io(Archive& archive) { CONCORD_MEMBERS(archive, share_, now_, half_, quarter_); }

 private:
  struct State {
    double elapsed = 0.0;
    double error = 0.0;
    double spent = 0.0;  ///< integral of s
  };

  double growth() const;

  double duration_;
  double share_ = 1.0;
  State now_;
  State half_, quarter_;  ///< at half to all, and at a quarter to half, of the time passed
};

}  // namespace concord
