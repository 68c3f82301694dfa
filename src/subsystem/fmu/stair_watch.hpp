#pragma once

#include <algorithm>
#include <limits>
#include <utility>

namespace concord {

/// Finds out whether what an FMU puts out moves in stairs, because it has a fixed internal step
/// that it doesn't declare: then differences and steps below that size mean nothing. What moves
/// where its inputs do, and rests where they rest, follows them; that is none of its own.
class StairWatch {
 public:
  /// Whether it is still worth looking.
  bool looks() const { return looked_ < most_looks && internal_step_ == 0.0; }

  /// After a step of the FMU of this size that ended at t; `moved`: anything has changed; `fed`:
  /// its inputs have.
  void look(double t, double size, bool moved, bool fed) {
    ++looked_;
    longest_ = std::max(longest_, size);
    const bool fed_before = std::exchange(fed_, fed);  // many an FMU answers a step later
    own_ += (moved ? !fed && !fed_before : fed && fed_before) ? 1 : 0;
    if (!moved) {
      ++rests_;
      return;
    }
    const bool went_back = t <= last_change_;
    if (changes_++ > 0 && !went_back) shortest_gap_ = std::min(shortest_gap_, t - last_change_);
    last_change_ = t;
    const bool stairs = shortest_gap_ > clearly * longest_ && rests_ > changes_;
    if (std::min(changes_, own_) > enough && stairs && shortest_gap_ < never)
      internal_step_ = shortest_gap_;
  }

  /// Changes followed each other without a rest: these are no stairs, at these sizes of steps.
  bool flows() const { return shortest_gap_ <= clearly * longest_; }

  /// The time between two stairs; 0: none were found.
  double internal_step() const { return internal_step_; }

 private:
  static constexpr int most_looks = 400, enough = 2;
  static constexpr double clearly = 1.5;

  static constexpr double never = std::numeric_limits<double>::infinity();

  int looked_ = 0, changes_ = 0, rests_ = 0;
  bool fed_ = false;
  int own_ = 0;  ///< changes or rests that are not those of the inputs
  double longest_ = 0.0, last_change_ = 0.0, internal_step_ = 0.0;
  double shortest_gap_ = never;
};

}  // namespace concord
