#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "network/rank_network.hpp"

namespace concord {

/// What own inputs are fed where all outputs are 0: offsets of units, of which there mostly are
/// none. Without them the exchange carries errors, too.
class UnitOffsets {
 public:
  /// Collective.
  explicit UnitOffsets(RankNetwork& subsystems) {
    const std::vector<Sample> outputs(subsystems.n_outputs());
    std::vector<Sample> fed(subsystems.n_inputs());
    subsystems.exchange(outputs, fed);
    if (std::ranges::any_of(fed, [](const Sample& input) { return input.value != 0.0; }))
      for (const Sample& input : fed) offsets_.push_back(input.value);
  }

  /// Local index of an input.
  double operator[](std::size_t input) const { return offsets_.empty() ? 0.0 : offsets_[input]; }

 private:
  std::vector<double> offsets_;  ///< empty: none
};

}  // namespace concord
