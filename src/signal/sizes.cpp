#include "signal/sizes.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

void Sizes::see(std::span<const Sample> samples, double h) {
  for (std::size_t i = 0; i < size_.size(); ++i) {
    if (nominal_[i] > 0.0) {
      continue;
    }
    const double magnitude = std::abs(samples[i].value);
    largest_[i] = std::isfinite(magnitude) ? std::max(largest_[i], magnitude) : largest_[i];
    const double expected = h * std::abs(samples[i].derivative);
    size_[i] = largest_[i] > 0.0 || !std::isfinite(expected) ? largest_[i] : expected;
  }
}

}  // namespace concord
