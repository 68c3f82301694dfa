#include "coupling/points/loop_slopes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace concord {
namespace {

/// Change of inputs in a macro-step, relative to their sizes, that noise of slopes may make.
constexpr double noise_in_a_step = 1e-6;

}  // namespace

bool LoopSlopes::solve(double Sample::*part) {
  part_ = part;
  constexpr int most = 20;
  bool renewed = false;
  double before = std::numeric_limits<double>::infinity();
  for (int i = 0; i < most; ++i) {
    if (!system_.evaluate()) {
      return false;
    }
    if (at_rounding()) {
      return true;
    }
    if (system_.factors().empty() && !system_.linearize()) {
      return false;
    }
    const double worst = correct();
    if (std::isnan(worst)) {
      return false;
    }
    const bool stopped = worst > LoopLimits::poor_contraction * before;
    if (stopped && (renewed || worst <= LoopLimits::last_correction)) {
      return (worst <= 2.0 * before || noise() <= noise_in_a_step) && system_.evaluate();
    }
    if (stopped && !system_.linearize()) {
      return false;
    }
    renewed = renewed || stopped;
    before = stopped ? std::numeric_limits<double>::infinity() : worst;
  }
  return false;
}

/// What the last correction makes of the inputs, or of their slopes, in a macro-step, in their
/// sizes.
double LoopSlopes::noise() const {
  double largest = 0.0;
  for (const double change : correction_) {
    largest = std::max(largest, std::abs(change) * system_.equations().step());
  }
  return largest;
}

bool LoopSlopes::at_rounding() const {
  const auto& rows = system_.rows();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double terms = system_.terms(row, part_);
    if (!(std::abs(rows[row].*part_) <= LoopLimits::rounding * terms)) {
      return false;
    }
  }
  return true;
}

/// The largest correction relative to its slope; NaN where one is.
double LoopSlopes::correct() {
  auto& u = system_.u();
  right_side_.resize(u.size());
  correction_.resize(u.size());
  double largest = 0.0;
  for (std::size_t row = 0; row < u.size(); ++row) {
    right_side_[row] = system_.rows()[row].*part_ / system_.row_scale(row);
    largest = std::max(largest, std::abs(u[row].*part_) / system_.column_scale(row));
  }
  system_.factors().solve(right_side_, correction_);
  double worst = 0.0;
  for (std::size_t row = 0; row < u.size(); ++row) {
    const double change = correction_[row];
    const double size = std::abs(u[row].*part_) / system_.column_scale(row);
    const double share =
        change == 0.0 ? 0.0 : std::abs(change) / std::max(size, LoopLimits::near_zero * largest);
    worst = std::isnan(share) || share > worst ? share : worst;
    u[row].*part_ -= change * system_.column_scale(row);
  }
  return worst;
}

}  // namespace concord
