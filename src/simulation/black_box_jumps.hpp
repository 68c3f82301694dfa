#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "coupling/coupling.hpp"
#include "coupling/method.hpp"

namespace concord {

/// Jumps of outputs whose subsystems don't tell of them, where a method builds on what was before.
class BlackBoxJumps {
 public:
  explicit BlackBoxJumps(const Method& method) : method_(method) {}

  /// Whether a jump is what the macro-step that was tried last, up to these outputs, could not
  /// follow. Collective.
  bool explain(const RankNetwork& subsystems, std::span<const Sample> outputs, double h) const {
    return !method_.knows_only_last_values() &&
           subsystems.has_jumped(outputs, h, method_.knows_slopes());
  }

  /// No macro-step is short enough to follow what happens in the one that was tried last, up to t:
  /// whether it may count as a jump. Too many within a short part of the experiment, which lasts
  /// `span` s, have no end.
  bool take_as_jump(double t, double span) {
    if (t > crowd_until_) {
      crowd_until_ = t + crowd * span;
      in_crowd_ = 0;
    }
    over_ = ++in_crowd_ <= most_in_crowd;
    return over_;
  }

  /// Whether that has led to the point.
  bool passed_over() const { return passed_; }

  /// In the macro-step that has led to the point, on all ranks. Collective.
  void count(RankNetwork& subsystems, const CommunicationPoint& point, double h) {
    last_ = method_.knows_only_last_values()
                ? 0
                : subsystems.count_jumps(point.outputs, h, method_.knows_slopes());
    passed_ = std::exchange(over_, false);
    last_ = passed_ ? std::max(last_, 1) : last_;
    total_ += last_;
  }

  /// Whether there were any, in the last macro-step; told once by `take_any`.
  bool any() const { return last_ > 0; }
  bool take_any() { return std::exchange(last_, 0) > 0; }

  /// So far.
  std::int64_t total() const { return total_; }

  void io(Archive& archive) { CONCORD_MEMBERS(archive, total_, crowd_until_, in_crowd_); }

 private:
  static constexpr double crowd = 1e-3;  ///< of the experiment
  static constexpr int most_in_crowd = 20;

  const Method& method_;
  int last_ = 0;
  bool over_ = false, passed_ = false;  ///< the macro-step under way; the last one
  double crowd_until_ = -std::numeric_limits<double>::infinity();  ///< s
  int in_crowd_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace concord
