#include "coupling/problem/carried_constraints.hpp"

#include <algorithm>

namespace concord {
namespace {

bool feeds(const Network& network, std::size_t constraint, std::size_t input) {
  const auto& link = network.links()[input];
  return link && network.subsystem_of_output(link->output) == constraint;
}

}  // namespace

std::vector<CarriedConstraint> carried_constraints(const Network& network) {
  std::vector<CarriedConstraint> result;
  for (std::size_t c = 0; c < network.n_subsystems(); ++c) {
    if (network.constraint(c) != ConstraintKind::direct) {
      continue;
    }
    std::vector<std::size_t> carriers;
    for (const auto& [output, input] : network.feedthrough()) {
      const std::size_t k = network.subsystem_of_output(output);
      if (k == c || !feeds(network, c, input)) {
        continue;
      }
      const IndexRange equation = network.inputs_of(c);
      for (std::size_t i = equation.first + 1; i < equation.last; ++i) {
        if (network.links()[i]->output == output) {
          carriers.push_back(k);
        }
      }
    }
    std::sort(carriers.begin(), carriers.end());
    carriers.erase(std::unique(carriers.begin(), carriers.end()), carriers.end());
    result.push_back({c, std::move(carriers)});
  }
  return result;
}

}  // namespace concord
