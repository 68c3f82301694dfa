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

}  // namespace concord
