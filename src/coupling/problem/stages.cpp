#include "coupling/problem/stages.hpp"

#include <algorithm>

namespace concord {
namespace {

/// Which group a subsystem is in, its position there, and when it runs.
struct Place {
  std::size_t group = 0;
  std::size_t position = 0;
  std::size_t stage = 0;
};

bool is_known(const Place& source, const Place& receiver) {
  return source.group == receiver.group && source.position < receiver.position;
}

/// Of the receiver's inputs those that subsystems before it in its group feed: the local position
/// of the input, and the place of the source.
template <class Action>
void for_each_known(const Network& network, const std::vector<Place>& places, std::size_t receiver,
                    Action action) {
  const IndexRange inputs = network.inputs_of(receiver);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (const auto& link = network.coupled_links()[inputs.first + i]) {
      const Place& source = places[network.subsystem_of_output(link->output)];
      if (is_known(source, places[receiver])) {
        action(i, source);
      }
    }
  }
}

/// A member runs as soon as those that it receives from have run.
std::vector<Place> places(const Network& network, const Groups& groups) {
  std::vector<Place> result(network.n_subsystems());
  for (std::size_t k = 0; k < result.size(); ++k) {
    result[k].group = groups.size() + k;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t m = 0; m < groups[g].size(); ++m) {
      result[groups[g][m]] = {g, m, 0};
    }
  }
  for (const auto& group : groups) {
    for (const std::size_t k : group) {
      for_each_known(network, result, k, [&](std::size_t, const Place& source) {
        result[k].stage = std::max(result[k].stage, source.stage + 1);
      });
    }
  }
  return result;
}

}  // namespace

Stages::Stages(const RankNetwork& subsystems, const Groups& groups) {
  const Network& network = subsystems.network();
  const std::vector<Place> all = places(network, groups);
  const auto last = std::max_element(
      all.begin(), all.end(), [](const Place& a, const Place& b) { return a.stage < b.stage; });
  members_.resize(all.empty() ? 1 : last->stage + 1);
  known_.resize(members_.size());
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const std::size_t g = subsystems.global(k);
    members_[all[g].stage].push_back(k);
    for_each_known(network, all, g, [&](std::size_t input, const Place&) {
      known_[all[g].stage].push_back(subsystems.inputs_of(k).first + input);
    });
  }
}

}  // namespace concord
