#pragma once

#include <limits>
#include <vector>

#include "stepping/step_controller.hpp"

namespace concord {

/// Step sizes from an error estimate by a PI controller (Gustafsson 1991; Hairer and Wanner,
/// Solving ODEs II, IV.2) that settles at a given error (Soederlind 2003): with err in units of the
/// tolerance, EST = O(h^{q+1}) and theta = 0.7^{q+1},
///
///     h_new = h (theta/err)^{0.3/(q+1)} (err_last/err)^{0.4/(q+1)}    after an accepted step,
///     h_new = h (theta/err)^{1/(q+1)}                                 after a rejected one, and
///                                                                     where that is above 2 h.
///
/// A step grows by 2 at most, from a new start on by 10 until it first would by less than 2 (if it
/// could be taken back). A step
/// may also be accepted with err > 1, where it cannot be taken back: the next one is smaller.
/// Macro-steps end exactly at `stop` and at each of `events`; a step that would leave a small rest
/// before such a time is halved instead.
///
/// Where noise is above the tolerance EST does not fall with h, and h creeps towards nothing with
/// macro-steps that are accepted: the steps stall where `patience` of them in a row were each
/// shorter than `slowest` of the experiment. At 1 us for each the rest would take 11 days.
class ErrorControlledSteps : public StepController {
 public:
  struct Limits {
    double start;
    double stop;
    double largest;
    double smallest;      ///< 0: as small as times allow (shortest_step)
    bool retries = true;  ///< steps whose error is too large can be taken back
  };

  static constexpr double slowest = 1e-12;
  static constexpr long patience = 100000;

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

  bool stalls() const override { return n_short_ >= patience; }

  void begin_anew(double size) override;
  double earliest_exact() const override;
  void io(Archive& archive) override {
    CONCORD_MEMBERS(archive, course_, size_, last_error_, largest_factor_, after_rejection_,
                    n_short_, looked_to_);
  }
  int memory_version() const override { return 3; }
  void stop_over(double time) override { course_.stop_over(time); }
  void end_by(double time) override { course_.end_by(time); }

 private:
  void move_on();
  void look_ahead();
  bool shrink(double factor);
  double smallest() const;

  Limits limits_;
  double first_;
  Course course_;
  double size_;
  double last_error_ = 1.0;
  double largest_factor_ = 1.0;
  bool after_rejection_ = false;
  long n_short_ = 0;  ///< accepted ones shorter than `slowest`, in a row
  /// s: an exact time before would have made one of the macro-steps proposed so far another one.
  double looked_to_ = -std::numeric_limits<double>::infinity();
};

}  // namespace concord
