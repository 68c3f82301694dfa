#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace concord {

/// Where a recorded signal isn't smooth: at a row, whose value then belongs to what lies before it.
struct SignalBreak {
  std::size_t row = 0;
  bool jump = false;  ///< what follows doesn't begin at the row's value
};

/// Rows at which the signal breaks, ascending. An event takes two rows of one time, what was before
/// and what follows; `events` are the first of them, ascending. Where both are the same, the signal
/// jumps where a polynomial through the rows behind doesn't lead back to it. Elsewhere a break is
/// found by polynomials from both sides: slopes at a row, or values across an interval, that differ
/// by much more than polynomials of degree 2 and 3 on one side do, and than those of degree 3 miss
/// of its own slopes: `slopes`, one per row or empty, NaN where they are not known. A break inside
/// an interval counts as a jump at its beginning.
std::vector<SignalBreak> find_breaks(std::span<const double> time, std::span<const double> values,
                                     std::span<const double> slopes,
                                     std::span<const std::size_t> events);

}  // namespace concord
