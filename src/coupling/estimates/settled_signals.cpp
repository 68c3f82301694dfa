#include "coupling/estimates/settled_signals.hpp"

#include <algorithm>
#include <utility>

namespace concord {

void SettledSignals::remember(double elapsed) {
  if (elapsed < 2.0 * half_) {
    return;
  }
  const auto sizes = subsystems_.output_sizes().values();
  half_ = elapsed;
  std::swap(before_, then_);
  std::copy(sizes.begin(), sizes.end(), then_.begin());
}

}  // namespace concord
