#include "coupling/estimates/estimate_interval.hpp"

#include <algorithm>

namespace concord {
namespace {

int free_intervals(std::size_t inputs) {
  constexpr std::size_t work = 4096;
  return static_cast<int>(std::clamp<std::size_t>(work / std::max<std::size_t>(inputs, 1), 8, 256));
}

}  // namespace

EstimateInterval::EstimateInterval(std::size_t inputs, bool always_free, bool follows, bool each)
    : small_(inputs <= few_inputs),
      always_free_(always_free),
      longest_(each                ? 1
               : !always_free      ? 64
               : follows && small_ ? 1
                                   : 16),
      free_(free_intervals(inputs)) {}

bool EstimateInterval::add(double h) {
  span_ += h;
  ++macro_steps_;
  return macro_steps_ >= length_;
}

void EstimateInterval::next(double variation) {
  constexpr int shortest_later = 16;
  constexpr double little_change = 0.1;
  span_ = 0.0;
  macro_steps_ = 0;
  free_ = std::max(0, free_ - 1);
  if (variation > much_change) {
    length_ /= 2;
  } else if (variation < little_change) {
    length_ *= 2;
  }
  const int shortest = is_free() ? 1 : shortest_later;
  length_ = std::clamp(length_, shortest, longest_);
}

}  // namespace concord
