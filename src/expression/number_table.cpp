#include "expression/number_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace concord {

namespace {

/// How far a value lies beyond an end, in widths w of what comes before it, as a number from 0 to
/// 1/2: places never reach the next whole number.
double beyond(double distance, double w) { return 0.5 * distance / (distance + w); }

double slope_beyond(double distance, double w) {
  return 0.5 * w / ((distance + w) * (distance + w));
}

}  // namespace

double NumberTable::not_there() { return std::numeric_limits<double>::quiet_NaN(); }

std::size_t NumberTable::count_up_to(double value) const {
  const std::size_t n = numbers_.size(), last = last_.load(std::memory_order_relaxed);
  const bool same =
      (last == 0 || numbers_[last - 1] <= value) && (last == n || value < numbers_[last]);
  if (same) return last;
  const auto found = std::upper_bound(numbers_.begin(), numbers_.end(), value);
  const auto count = static_cast<std::size_t>(found - numbers_.begin());
  last_.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
  return count;
}

double NumberTable::place(double value) const {
  if (std::isnan(value)) return value;
  const std::size_t n = numbers_.size(), k = count_up_to(value);
  if (k == 0) return 1.0 - beyond(numbers_[0] - value, before_);
  const double from = numbers_[k - 1];
  const auto whole = static_cast<double>(k);
  if (k == n) return whole + beyond(value - from, behind_);
  return whole + (value - from) / (numbers_[k] - from);
}

double NumberTable::place_slope(double value) const {
  if (std::isnan(value)) return value;
  const std::size_t n = numbers_.size(), k = count_up_to(value);
  if (k == 0) return slope_beyond(numbers_[0] - value, before_);
  if (k == n) return slope_beyond(value - numbers_[n - 1], behind_);
  return 1.0 / (numbers_[k] - numbers_[k - 1]);
}

double NumberTable::inside(double value) const {
  constexpr double rounding = 1e-12;
  const double first = numbers_.front(), last = numbers_.back();
  const double near = rounding * (std::abs(first) + std::abs(last));
  return value >= first - near && value <= last + near ? value : not_there();
}

}  // namespace concord
