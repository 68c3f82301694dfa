#include "subsystem/fmu/slope_samples.hpp"

namespace concord {

void SlopeSamples::at_end(double distance, std::span<double> slopes) const {
  if (complete()) {
    slopes_at_end(samples_, distance, slopes);
  } else if (taken_ > 1) {
    const std::size_t last = sampled_ends - 1;
    for (std::size_t i = 0; i < slopes.size(); ++i)
      slopes[i] = (samples_[last][i] - samples_[last - 1][i]) / distance;
  }
}

std::optional<double> SlopeSamples::before(std::size_t output) const {
  if (taken_ == 0) return std::nullopt;
  const auto y = [&](std::size_t number) { return samples_[number][output]; };
  if (!complete()) return y(0);
  return y(0) + 3.0 * (y(0) - y(1)) - 3.0 * (y(1) - y(2)) + (y(2) - y(3));
}

}  // namespace concord
