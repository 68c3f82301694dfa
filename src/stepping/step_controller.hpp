#pragma once

#include <vector>

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

/// The times that macro-steps must end at exactly: events, and the stop.
class ExactTimes {
 public:
  /// `events` ascending; those not between start and stop are ignored.
  ExactTimes(double start, double stop, const std::vector<double>& events);
  double stop() const { return times_.back(); }

  /// The first one after `time`; the stop at the end.
  double after(double time) const;

 private:
  std::vector<double> times_;
};

/// t_n = start + n h, the last macro-step clipped to `stop`; after an event counted from there.
class FixedSteps : public StepController {
 public:
  FixedSteps(double start, double stop, double size, const std::vector<double>& events = {});
  Interval propose() const override { return {time(done_), time(done_ + 1)}; }
  bool finished() const override { return time(done_) >= exact_.stop(); }
  void accepted() override;
  bool rejected() override { return false; }

 private:
  double time(long n) const { return n >= count_ ? end_ : start_ + static_cast<double>(n) * size_; }
  void begin_at(double start);

  ExactTimes exact_;
  double size_;
  double start_, end_;  ///< from one exact time to the next
  long count_ = 0;
  long done_ = 0;
};

/// Half the step after a failed coupling, 1.3 times the step up to the largest after a converged
/// one (Eguillon et al. 2019, section 3.3).
class IterationSteps : public StepController {
 public:
  IterationSteps(double start, double stop, double largest, double smallest,
                 const std::vector<double>& events = {});
  Interval propose() const override;
  bool finished() const override { return begin() >= exact_.stop(); }
  void accepted() override;
  bool rejected() override;

 private:
  double begin() const { return anchor_ + static_cast<double>(since_anchor_) * size_; }
  void resize(double size);

  ExactTimes exact_;
  double largest_, smallest_;
  double anchor_;  ///< where the current step size began: times are anchor + n size
  double size_;
  long since_anchor_ = 0;
};

}  // namespace concord
