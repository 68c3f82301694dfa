#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "concord/archive.hpp"

namespace concord {

/// Events that a co-simulation FMU with event mode comes to, while it is not known yet whether the
/// macro-step in which they are is accepted: one at its end can wait until it is.
class EventsOnTheWay {
 public:
  /// While it lives, a macro-step up to this end is under way.
  class UnderWay {
   public:
    UnderWay(EventsOnTheWay& events, double end) : events_(events) {
      events_.end_ = end;
      events_.first_ = never;
      events_.handled_ = false;
    }
    ~UnderWay() { events_.end_ = never; }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

   private:
    EventsOnTheWay& events_;
  };

  /// What is no time between instants, s.
  void note_slack(double slack) { slack_ = slack; }
  double slack() const { return slack_; }

  /// The FMU wants event mode at t, because of something at `event`: whether that waits, where
  /// `told` who accepts macro-steps is told of events.
  bool meet(double t, double event, bool told) {
    first_ = std::min(first_, event);
    const bool waits = told && t >= end_ - near * slack_;
    handled_ = handled_ || (!waits && end_ < never);
    return waits;
  }

  /// An event has happened.
  void pass() { ++passed_; }
  std::int64_t passed() const { return passed_; }

  /// The time of the first one within the last macro-step, s; infinity without one.
  double first() const { return first_; }

  /// Whether one within it did not wait, told once.
  bool take_handled() { return std::exchange(handled_, false); }

  void io(Archive& archive) { CONCORD_MEMBERS(archive, slack_); }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  /// What an FMU that returns early so shortly before the macro-step's end has found is at the end,
  /// in units of what is no time between instants.
  static constexpr double near = 2.5;

  double end_ = never;  ///< of the macro-step under way
  double first_ = never;
  bool handled_ = false;
  double slack_ = 0.0;
  std::int64_t passed_ = 0;
};

}  // namespace concord
