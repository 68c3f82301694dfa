#include "subsystem/ode/error_weights.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

namespace {

/// Below, the reciprocal might overflow.
constexpr double smallest_tolerance = 1e-307;

/// Beside the largest state's: smaller ones are tails that spread through chains of states, whose
/// digits no method could follow (x_k grows like t^k).
constexpr double negligible = 1e-30;

}  // namespace

ErrorWeights::ErrorWeights(const Tolerance& tolerance, std::size_t states)
    : tolerance_(tolerance), numbers_(2 * states) {
  std::ranges::fill(absolute(), tolerance.of(0.0, 0.0));
}

void ErrorWeights::take(std::span<const double> sizes, std::span<const double> rounding) {
  const double largest = sizes.empty() ? 0.0 : *std::max_element(sizes.begin(), sizes.end());
  const std::span<double> own = this->sizes(), absolute = this->absolute();
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i] = sizes[i] > 0.0 ? std::max(sizes[i], negligible * largest) : 0.0;
    absolute[i] = tolerance_.of(0.0, own[i]);
    if (tolerance_.of_size) absolute[i] = std::max(absolute[i], rounding[i]);
  }
}

void ErrorWeights::weigh(std::span<const double> x, double multiple,
                         std::span<double> weights) const {
  const std::span<const double> absolute = this->absolute();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double allowed = multiple * (tolerance_.relative * std::abs(x[i]) + absolute[i]);
    weights[i] = absolute[i] > 0.0 ? 1.0 / std::max(allowed, smallest_tolerance) : 0.0;
  }
}

double ErrorWeights::magnitude(std::size_t i, double value) const {
  return numbers_[i] > 0.0 ? std::max(std::abs(value), numbers_[i]) : 0.0;
}

double weighted_norm(std::span<const double> values, std::span<const double> weights) {
  if (values.empty()) return 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double weighted = values[i] * weights[i];
    sum += weighted * weighted;
  }
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace concord
