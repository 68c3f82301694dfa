#pragma once

#include <limits>
#include <vector>

#include "concord/archive.hpp"

namespace concord {

/// Chooses the macro-steps; knows numbers only.
class StepController {
 public:
  /// From `begin` to `end`, rounded as times are, over exactly `size`.
  struct Interval {
    double begin;
    double end;
    double size;
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

  /// The accepted macro-steps of late have been so short that at their pace no run reaches the
  /// stop.
  virtual bool stalls() const { return false; }

  /// Something has jumped: what errors have been says nothing about what comes. `size` is what is
  /// known of the next macro-step.
  virtual void begin_anew(double /*size*/) {}

  /// All it remembers.
  virtual void io(Archive& archive) = 0;
  /// Of what `io` passes: to be raised where that changes.
  virtual int memory_version() const { return 1; }

  /// Macro-steps end exactly at this time, too; one that isn't ahead changes nothing.
  virtual void stop_over(double time) = 0;

  /// s: the earliest time that may yet become an exact one (`stop_over`, `end_by`) without any of
  /// the macro-steps so far having been another had it been one from the start.
  virtual double earliest_exact() const { return propose().end; }

  /// The next macro-step ends no later than this, s, until something else is said; infinity, or
  /// what isn't ahead: nothing. Sizes count from a time that was reached so.
  virtual void end_by(double time) = 0;
};

/// No macro-step from t is shorter, whatever else allows it: times that are nearer to each other
/// than some spacings of floating-point numbers are one time. `usual`: a macro-step that says how
/// long things take where t is 0.
double shortest_step(double t, double usual);

/// Where a run is between the times that macro-steps must end at exactly: events, and the stop.
/// What has elapsed since the last of them is kept as a distance, t = t_k + elapsed, and sizes are
/// differences of distances: those of times t are off by eps |t| (2e-7 s at t = 1.7e9 s).
class Course {
 public:
  /// `events` ascending; those not between start and stop are ignored.
  Course(double start, double stop, const std::vector<double>& events);

  bool finished() const { return last_ >= times_.back(); }
  double time() const { return last_ + elapsed_; }
  double elapsed() const { return elapsed_; }

  /// To the next exact time.
  double rest() const { return (ends_early() ? end_by_ - last_ : distance_) - elapsed_; }

  /// The macro-step of this size, after which `reached` has elapsed; to the next exact time where
  /// no more than a sliver would be left.
  StepController::Interval step(double size, double reached) const;
  StepController::Interval step(double size) const { return step(size, elapsed_ + size); }

  /// Beside the stop and the events, which it was made with.
  void io(Archive& archive);

  /// One more exact time; nothing where it isn't ahead, or no further than rounding from the next.
  void stop_over(double time);

  /// An exact time that may be taken back.
  void end_by(double time) { end_by_ = time; }

  /// Past what step() gave. True: an exact time was reached.
  bool move_on(const StepController::Interval& step, double reached);

 private:
  void begin_at(double time);
  void look_ahead();
  double rounding(double time) const;
  bool ends_early() const;
  double next() const { return ends_early() ? end_by_ : next_; }

  std::vector<double> times_;
  std::vector<double> added_;  ///< by stop_over, ascending, until they lie behind
  double last_ = 0.0, next_ = 0.0;
  double elapsed_ = 0.0;
  double distance_ = 0.0;  ///< from the last exact time to the next of times_
  double end_by_ = std::numeric_limits<double>::infinity();
};

/// t_n = start + n h, the last macro-step clipped to `stop`; after an event counted from there.
class FixedSteps : public StepController {
 public:
  FixedSteps(double start, double stop, double size, const std::vector<double>& events = {})
      : course_(start, stop, events), size_(size) {}
  Interval propose() const override { return course_.step(size_, reached()); }
  bool finished() const override { return course_.finished(); }
  void accepted() override;
  bool rejected() override { return false; }
  void io(Archive& archive) override { CONCORD_MEMBERS(archive, course_, done_); }
  void stop_over(double time) override { course_.stop_over(time); }
  void end_by(double time) override { course_.end_by(time); }

 private:
  double reached() const { return static_cast<double>(done_ + 1) * size_; }

  Course course_;
  double size_;
  long done_ = 0;  ///< since the last exact time
};

/// Half the step after a failed coupling, down to the smallest; 1.3 times the step up to the
/// largest after a converged one (Eguillon et al. 2019, section 3.3).
class IterationSteps : public StepController {
 public:
  IterationSteps(double start, double stop, double largest, double smallest,
                 const std::vector<double>& events = {});
  Interval propose() const override { return course_.step(size_, reached()); }
  bool finished() const override { return course_.finished(); }
  void accepted() override;
  bool rejected() override;
  void io(Archive& archive) override {
    CONCORD_MEMBERS(archive, course_, size_, resized_at_, done_);
  }
  void stop_over(double time) override { course_.stop_over(time); }
  void end_by(double time) override { course_.end_by(time); }

 private:
  double reached() const { return resized_at_ + static_cast<double>(done_ + 1) * size_; }
  void resize(double size);

  Course course_;
  double largest_, smallest_;  ///< 0: as small as times allow
  double size_;
  double resized_at_ = 0.0;  ///< elapsed when the size was chosen
  long done_ = 0;            ///< macro-steps of that size
};

}  // namespace concord
