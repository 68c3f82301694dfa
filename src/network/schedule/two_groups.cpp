#include "network/schedule/two_groups.hpp"

#include <queue>

namespace concord {
namespace {

enum class Colour { none, first, second };

Colour other(Colour colour) { return colour == Colour::first ? Colour::second : Colour::first; }

using Neighbours = std::vector<std::vector<std::size_t>>;

Neighbours neighbours(const Network& network) {
  Neighbours result(network.n_subsystems());
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    if (const auto& link = network.links()[i]) {
      const std::size_t to = network.subsystem_of_input(i);
      const std::size_t from = network.subsystem_of_output(link->output);
      result[to].push_back(from);
      result[from].push_back(to);
    }
  }
  return result;
}

std::vector<Colour> coloured(const Network& network) {
  const Neighbours near = neighbours(network);
  std::vector<Colour> colours(near.size(), Colour::none);
  for (std::size_t start = 0; start < near.size(); ++start) {
    if (colours[start] != Colour::none) {
      continue;
    }
    colours[start] = Colour::first;
    std::queue<std::size_t> open({start});
    for (; !open.empty(); open.pop()) {
      for (const std::size_t k : near[open.front()]) {
        if (colours[k] == Colour::none) {
          colours[k] = other(colours[open.front()]);
          open.push(k);
        }
      }
    }
  }
  return colours;
}

}  // namespace

TwoGroups two_groups(const Network& network, const Groups& given) {
  TwoGroups result;
  if (!given.empty() && given.size() != 2) {
    result.problem =
        "staggered grids need two groups of subsystems, the model file's schedule has " +
        std::to_string(given.size());
    return result;
  }
  std::vector<Colour> colours(network.n_subsystems(), Colour::none);
  for (std::size_t g = 0; g < given.size(); ++g) {
    for (const std::size_t k : given[g]) {
      colours[k] = g == 0 ? Colour::first : Colour::second;
    }
  }
  if (given.empty()) {
    colours = coloured(network);
  }
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    const auto& link = network.links()[i];
    if (link && colours[network.subsystem_of_input(i)] ==
                    colours[network.subsystem_of_output(link->output)]) {
      result.problem =
          "staggered grids need two groups of subsystems that connections only lead "
          "across, but " +
          network.output_names()[link->output] + " -> " + network.input_names()[i] +
          " stays in one" + (given.empty() ? ", whatever the groups" : "");
      return result;
    }
  }
  result.groups.resize(2);
  for (std::size_t k = 0; k < colours.size(); ++k) {
    result.groups[colours[k] == Colour::first ? 0 : 1].push_back(k);
  }
  return result;
}

}  // namespace concord
