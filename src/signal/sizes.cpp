#include "signal/sizes.hpp"

#include <algorithm>
#include <cmath>

#include "signal/smallest_size.hpp"

namespace concord {

Sizes::Sizes(const std::vector<double>& nominal)
    : count_(nominal.size()), numbers_(3 * count_, 0.0) {
  std::copy(nominal.begin(), nominal.end(), numbers_.begin());
  std::copy(nominal.begin(), nominal.end(), numbers_.end() - static_cast<std::ptrdiff_t>(count_));
}

void Sizes::see(std::size_t i, const Sample& sample, double h) {
  if (is_nominal(i)) {
    return;
  }
  const double magnitude = std::abs(sample.value);
  double& most = largest()[i];
  if (magnitude > most && magnitude >= smallest_size && std::isfinite(magnitude)) {
    most = magnitude;
  }
  const double expected = h * std::abs(sample.derivative);
  const bool tells = expected >= smallest_size && std::isfinite(expected);
  numbers_[i] = most > 0.0 || !tells ? most : expected;
}

void Sizes::raise(std::span<const Sample> sizes) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (!is_nominal(i) && sizes[i].value > largest()[i] && std::isfinite(sizes[i].value)) {
      largest()[i] = numbers_[i] = sizes[i].value;
    }
  }
}

}  // namespace concord
