#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "concord/archive.hpp"
#include "concord/polynomial.hpp"

namespace concord {

/// What each of some variables has gone through so far, in its unit: from the least to the largest
/// value at communication points. Errors of a signal are judged by its range, at least a hundredth
/// of its size: what hardly moves is mostly the noise of what it is a difference of.
class SignalRanges {
 public:
  explicit SignalRanges(std::size_t count) : seen_(count) {}

  /// A value at a communication point.
  void see(std::size_t i, double value) { seen_[i] = with(i, value); }

  /// The range where a trial ends with this value.
  double range(std::size_t i, double value) const {
    const Range range = with(i, value);
    return range.high - range.low;
  }

  /// What errors are small against, where the variable's size is `size`.
  double size(std::size_t i, double size) const {
    constexpr double least = 0.01;
    return std::max(seen_[i].high - seen_[i].low, least * size);
  }

  void io(Archive& archive, Per kind) { CONCORD_MEMBERS_PER(archive, kind, seen_); }

 private:
  struct Range {
    bool any = false;
    double low = 0.0, high = 0.0;

    void io(Archive& archive) { CONCORD_MEMBERS(archive, any, low, high); }
  };

  Range with(std::size_t i, double value) const {
    const Range& range = seen_[i];
    if (!range.any) {
      return {true, value, value};
    }
    return {true, std::min(range.low, value), std::max(range.high, value)};
  }

  std::vector<Range> seen_;
};

}  // namespace concord
