#include "coupling/stages.hpp"

#include <algorithm>

namespace concord {
namespace {

struct Place {
  std::size_t group = 0;
  std::size_t stage = 0;
};

std::vector<Place> places(std::size_t subsystems, const Groups& groups) {
  std::vector<Place> result(subsystems);
  for (std::size_t k = 0; k < subsystems; ++k) {
    result[k].group = groups.size() + k;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t s = 0; s < groups[g].size(); ++s) {
      result[groups[g][s]] = {g, s};
    }
  }
  return result;
}

std::size_t longest(const Groups& groups) {
  std::size_t size = 1;
  for (const auto& group : groups) {
    size = std::max(size, group.size());
  }
  return size;
}

}  // namespace

Stages::Stages(const RankNetwork& subsystems, const Groups& groups)
    : members_(longest(groups)), known_(longest(groups)) {
  const Network& network = subsystems.network();
  const std::vector<Place> place = places(network.n_subsystems(), groups);
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const std::size_t g = subsystems.global(k);
    const auto [group, stage] = place[g];
    members_[stage].push_back(k);
    for (std::size_t i = 0; i < network.inputs_of(g).size(); ++i) {
      const auto& link = network.coupled_links()[network.inputs_of(g).first + i];
      if (!link) {
        continue;
      }
      const Place& source = place[network.subsystem_of_output(link->output)];
      if (source.group == group && source.stage < stage) {
        known_[stage].push_back(subsystems.inputs_of(k).first + i);
      }
    }
  }
}

}  // namespace concord
