#include "network/subsystem_use.hpp"

#include <span>
#include <utility>

namespace concord {

SubsystemUse::SubsystemUse(const Network& network, const RankLayout& layout,
                           const SettingsList& settings)
    : layout_(layout) {
  std::vector<char> feeds(network.n_outputs(), 0);
  for (const auto& link : network.links()) {
    if (link) feeds[link->output] = 1;
  }
  for (const std::size_t k : layout.all()) {
    const std::size_t g = layout.global(k);
    const IndexRange in = network.inputs_of(g), out = network.outputs_of(g);
    for (std::size_t i = in.first; i < in.last; ++i) {
      given_.push_back(network.links()[i] ? 1 : 0);
    }
    const auto& recorded = settings[g].recorded;
    for (std::size_t o = 0; o < out.size(); ++o) {
      const bool is_recorded = recorded.empty() || recorded[o] != 0;
      looked_at_.push_back(is_recorded ? 1 : feeds[out.first + o]);
    }
  }
}

void SubsystemUse::tell(std::size_t k, Subsystem& subsystem) const {
  const IndexRange in = layout_.inputs_of(k), out = layout_.outputs_of(k);
  subsystem.note_use(std::span(given_).subspan(in.first, in.size()),
                     std::span(looked_at_).subspan(out.first, out.size()));
}

bool SubsystemUse::note_given(std::size_t input) { return std::exchange(given_[input], 1) == 0; }

}  // namespace concord
