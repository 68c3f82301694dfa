#pragma once

#include <memory>

namespace concord {

/// Chooses the macro-steps; knows numbers only.
class StepController {
 public:
  struct Interval {
    double begin;
    double end;
  };

  virtual ~StepController() = default;

  /// The macro-step to try next; its end is exactly the stop time for the last one.
  virtual Interval propose() const = 0;
  virtual bool finished() const = 0;

  /// The proposed macro-step was accepted.
  virtual void accepted() = 0;

  /// The coupling did not converge on the proposed macro-step. False: no smaller step is allowed.
  virtual bool rejected() = 0;

  /// The same with an error estimate in units of the tolerance, err = O(h^{order+1}), which may
  /// guide the next size.
  virtual void accept(double /*error_norm*/, int /*order*/) { accepted(); }
  virtual bool reject(double /*error_norm*/, int /*order*/) { return rejected(); }
};

/// t_n = start + n h, the last macro-step clipped to `stop`.
class FixedSteps : public StepController {
 public:
  FixedSteps(double start, double stop, double size);
  Interval propose() const override { return {time(done_), time(done_ + 1)}; }
  bool finished() const override { return done_ >= count_; }
  void accepted() override { ++done_; }
  bool rejected() override { return false; }

 private:
  double time(long n) const {
    return n >= count_ ? stop_ : start_ + static_cast<double>(n) * size_;
  }
  double start_, stop_, size_;
  long count_;
  long done_ = 0;
};

/// Half the step after a failed coupling, 1.3 times the step up to the largest after a converged
/// one (Eguillon et al. 2019, section 3.3).
class IterationSteps : public StepController {
 public:
  IterationSteps(double start, double stop, double largest, double smallest);
  Interval propose() const override;
  bool finished() const override { return begin() >= stop_; }
  void accepted() override;
  bool rejected() override;

 private:
  double begin() const { return anchor_ + static_cast<double>(since_anchor_) * size_; }
  void resize(double size);

  double stop_, largest_, smallest_;
  double anchor_;  ///< where the current step size began: times are anchor + n size
  double size_;
  long since_anchor_ = 0;
};

}  // namespace concord
