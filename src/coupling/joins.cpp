#include "coupling/joins.hpp"

#include <algorithm>

#include "support/agreement.hpp"

namespace concord {

Joins::Joins(const RankNetwork& subsystems)
    : subsystems_(subsystems), dropped_(subsystems.connected_inputs().size(), 0) {}

void Joins::begin() {
  if (any_) {
    std::fill(dropped_.begin(), dropped_.end(), 0);
    any_ = false;
  }
}

bool Joins::drop(const CommunicationPoint& point, std::span<const Sample> ends, double h) {
  const auto& connected = subsystems_.connected_inputs();
  bool more = false;
  for (std::size_t j = 0; point.slopes_known && j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    if (dropped_[j] == 0 &&
        slope_misleads(point.inputs[i], ends[i], h, subsystems_.input_sizes()[i])) {
      dropped_[j] = 1;
      more = true;
    }
  }
  more = agree_on_largest(subsystems_.comm(), more ? 1 : 0) != 0;
  any_ = any_ || more;
  return more;
}

}  // namespace concord
