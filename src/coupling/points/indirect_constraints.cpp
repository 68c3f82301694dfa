#include "coupling/points/indirect_constraints.hpp"

#include <algorithm>
#include <set>

#include "support/agreement.hpp"

namespace concord {

IndirectConstraints::IndirectConstraints(RankNetwork& subsystems) : subsystems_(subsystems) {
  const Network& network = subsystems.network();
  for (std::size_t g = 0; g < network.n_subsystems(); ++g) {
    if (network.constraint(g) != ConstraintKind::indirect) {
      continue;
    }
    for (const std::size_t k : subsystems.all()) {
      if (subsystems.global(k) == g) {
        own_.push_back(k);
        positions_.push_back(count());
      }
    }
    answering_.emplace_back();
  }
  find_answering();
  find_colours();
}

std::size_t IndirectConstraints::position(std::size_t k) const {
  return positions_[static_cast<std::size_t>(std::find(own_.begin(), own_.end(), k) -
                                             own_.begin())];
}

void IndirectConstraints::find_answering() {
  const Network& network = subsystems_.network();
  std::vector<std::size_t> position(network.n_subsystems(), count());
  for (std::size_t g = 0, c = 0; g < network.n_subsystems(); ++g) {
    if (network.constraint(g) == ConstraintKind::indirect) {
      position[g] = c++;
    }
  }
  std::vector<std::set<std::size_t>> at_subsystem(network.n_subsystems());
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    if (const auto& link = network.links()[i]) {
      const std::size_t from = network.subsystem_of_output(link->output);
      const std::size_t to = network.subsystem_of_input(i);
      at_subsystem[to].insert(position[from]);
      at_subsystem[from].insert(position[to]);
    }
  }
  std::vector<std::set<std::size_t>> answering(count());
  for (auto& constraints : at_subsystem) {
    constraints.erase(count());
    for (const std::size_t c : constraints) {
      answering[c].insert(constraints.begin(), constraints.end());
    }
  }
  for (std::size_t c = 0; c < count(); ++c) {
    answering_[c].assign(answering[c].begin(), answering[c].end());
  }
}

void IndirectConstraints::find_colours() {
  std::vector<std::set<std::size_t>> taken;
  for (const auto& answering : answering_) {
    std::size_t colour = 0;
    const auto meets = [&](std::size_t row) { return taken[colour].contains(row); };
    while (colour < taken.size() && std::any_of(answering.begin(), answering.end(), meets)) {
      ++colour;
    }
    taken.resize(std::max(taken.size(), colour + 1));
    taken[colour].insert(answering.begin(), answering.end());
    colours_.push_back(colour);
  }
  n_colours_ = taken.size();
}

std::vector<double> IndirectConstraints::unknowns(std::span<const Sample> inputs) const {
  std::vector<double> result(count(), 0.0);
  for (std::size_t c = 0; c < own_.size(); ++c) {
    result[positions_[c]] = inputs[subsystems_.inputs_of(own_[c]).first].value;
  }
  agree_on_sum(subsystems_.comm(), result);
  return result;
}

std::vector<Sample> IndirectConstraints::equations(std::span<const Sample> outputs) const {
  std::vector<double> message(2 * count(), 0.0);
  for (std::size_t c = 0; c < own_.size(); ++c) {
    const Sample& gamma = outputs[subsystems_.outputs_of(own_[c]).first + constraint_residual];
    message[2 * positions_[c]] = gamma.value;
    message[2 * positions_[c] + 1] = gamma.derivative;
  }
  agree_on_sum(subsystems_.comm(), message);
  std::vector<Sample> result(count());
  for (std::size_t c = 0; c < count(); ++c) {
    result[c] = {message[2 * c], message[2 * c + 1]};
  }
  return result;
}

}  // namespace concord
