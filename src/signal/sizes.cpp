#include "signal/sizes.hpp"

#include <algorithm>
#include <cmath>

#include "signal/smallest_size.hpp"

namespace concord {

void Sizes::see(std::span<const Sample> samples, double h) {
  for (std::size_t i = 0; i < size_.size(); ++i) {
    if (nominal_[i] > 0.0) {
      continue;
    }
    const double magnitude = std::abs(samples[i].value);
    if (magnitude > largest_[i] && magnitude >= smallest_size && std::isfinite(magnitude)) {
      largest_[i] = magnitude;
    }
    const double expected = h * std::abs(samples[i].derivative);
    const bool tells = expected >= smallest_size && std::isfinite(expected);
    size_[i] = largest_[i] > 0.0 || !tells ? largest_[i] : expected;
  }
}

void Sizes::raise(std::span<const Sample> sizes) {
  for (std::size_t i = 0; i < size_.size(); ++i) {
    if (!(nominal_[i] > 0.0) && sizes[i].value > largest_[i] && std::isfinite(sizes[i].value)) {
      largest_[i] = size_[i] = sizes[i].value;
    }
  }
}

}  // namespace concord
