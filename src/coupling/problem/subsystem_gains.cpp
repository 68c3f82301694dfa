#include "coupling/problem/subsystem_gains.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

SubsystemGains::SubsystemGains(const RankNetwork& subsystems, int parts)
    : parts_(parts), inputs_(subsystems.n_own()), values_(subsystems.n_own()) {
  std::size_t next = 0;
  const auto& connected = subsystems.connected_inputs();
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const std::size_t end = subsystems.inputs_of(k).last;
    for (; next < connected.size() && connected[next] < end; ++next) {
      inputs_[k].push_back(connected[next]);
    }
    values_[k].assign(subsystems.outputs_of(k).size() * parts_ * columns(k), 0.0);
  }
}

void SubsystemGains::io(Archive& archive) {
  for (std::size_t k = 0; k < values_.size(); ++k) {
    archive.as("gains", [&] { archive.within(k, [&] { archive.values(std::span(values_[k])); }); });
  }
}

bool SubsystemGains::finite() const {
  return std::all_of(values_.begin(), values_.end(), [](const std::vector<double>& block) {
    return std::all_of(block.begin(), block.end(), [](double gain) { return std::isfinite(gain); });
  });
}

}  // namespace concord
