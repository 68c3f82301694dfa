#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "signal/sizes.hpp"

namespace concord {

/// How large the local error of each state may be: rtol |x_i| + a_i with a_i = atol size_i
/// (Tolerance::of), and not less than what rounding makes of f within the macro-step.
///
/// A state without a size has no say: it has never been anything but 0, so that nothing is known of
/// its unit, or still rises from there so steeply that its digits don't last.
class ErrorWeights {
 public:
  ErrorWeights(const Tolerance& tolerance, std::size_t states);

  /// `rounding`: of each state within the macro-step. It counts where the absolute tolerance is in
  /// units of the size, which then may itself be nothing but rounding.
  void take(std::span<const double> sizes, std::span<const double> rounding);

  /// weights_i = 1 / (multiple of the tolerance).
  void weigh(std::span<const double> x, double multiple, std::span<double> weights) const;

  /// Of a difference in state i: what its increment is a small part of; 0 where it has no size.
  double magnitude(std::size_t i, double value) const;

  const Tolerance& tolerance() const { return tolerance_; }

 private:
  std::span<double> sizes() { return std::span(numbers_).first(numbers_.size() / 2); }
  std::span<double> absolute() { return std::span(numbers_).last(numbers_.size() / 2); }
  std::span<const double> absolute() const { return std::span(numbers_).last(numbers_.size() / 2); }

  Tolerance tolerance_;
  std::vector<double> numbers_;  ///< sizes, then what absolute parts are
};

/// Root mean square of values times weights.
double weighted_norm(std::span<const double> values, std::span<const double> weights);

}  // namespace concord
