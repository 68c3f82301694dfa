#include "network/rank_layout.hpp"

namespace concord {
namespace {

/// Position of each global variable in its owner's arrays.
template <class RangeOf>
std::vector<std::size_t> local_positions(const Network& network, const Partition& partition,
                                         std::size_t total, const RangeOf& range_of) {
  std::vector<std::size_t> position(total);
  std::vector<std::size_t> next;
  for (std::size_t k = 0; k < network.n_subsystems(); ++k) {
    const auto rank = static_cast<std::size_t>(partition.rank_of(k));
    next.resize(std::max(next.size(), rank + 1), 0);
    const IndexRange range = range_of(k);
    for (std::size_t i = range.first; i < range.last; ++i) {
      position[i] = next[rank]++;
    }
  }
  return position;
}

}  // namespace

RankLayout::RankLayout(const Network& network, const Partition& partition, int rank)
    : global_(partition.subsystems_of(rank)) {
  inputs_.local = local_positions(network, partition, network.n_inputs(),
                                  [&](std::size_t k) { return network.inputs_of(k); });
  outputs_.local = local_positions(network, partition, network.n_outputs(),
                                   [&](std::size_t k) { return network.outputs_of(k); });
  for (const std::size_t g : global_) {
    const IndexRange inputs = network.inputs_of(g);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::size_t input = inputs.first + i;
      if (network.held(input)) {
        held_.push_back(n_inputs() + i);
      } else if (network.links()[input]) {
        connected_.push_back(n_inputs() + i);
      }
    }
    all_.push_back(all_.size());
    inputs_.offset.push_back(n_inputs() + inputs.size());
    outputs_.offset.push_back(n_outputs() + network.outputs_of(g).size());
    states_.push_back(n_states() + network.states_of(g).size());
  }
}

ArchiveLayout RankLayout::archive_layout() const {
  ArchiveLayout layout;
  const auto ends = [&](Per kind) -> auto& { return layout.ends[static_cast<std::size_t>(kind)]; };
  const auto among = [](const std::vector<std::size_t>& inputs, std::size_t end) {
    const auto behind = std::lower_bound(inputs.begin(), inputs.end(), end);
    return static_cast<std::size_t>(behind - inputs.begin());
  };
  for (const std::size_t k : all_) {
    const std::size_t inputs = inputs_of(k).last;
    ends(Per::subsystem).push_back(k + 1);
    ends(Per::state).push_back(states_of(k).last);
    ends(Per::input).push_back(inputs);
    ends(Per::connected).push_back(among(connected_, inputs));
    ends(Per::held).push_back(among(held_, inputs));
    ends(Per::output).push_back(outputs_of(k).last);
  }
  return layout;
}

}  // namespace concord
