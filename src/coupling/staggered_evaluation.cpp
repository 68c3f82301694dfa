#include "coupling/staggered_evaluation.hpp"

#include <algorithm>
#include <set>

namespace concord {
namespace {

/// Subsystems whose outputs answer directly to a constraint's unknown.
std::set<std::size_t> answering(const Network& network) {
  std::set<std::size_t> result;
  for (const auto& [output, input] : network.feedthrough()) {
    const auto& link = network.links()[input];
    if (link && network.constraint(network.subsystem_of_output(link->output))) {
      result.insert(network.subsystem_of_output(output));
    }
  }
  return result;
}

/// The constraints, and the last of the answering subsystems in each one's equation.
std::set<std::size_t> evaluated_last(const Network& network) {
  const auto candidates = answering(network);
  std::set<std::size_t> result;
  for (std::size_t k = 0; k < network.n_subsystems(); ++k) {
    if (!network.constraint(k)) {
      continue;
    }
    std::size_t last = k;
    for (std::size_t i = network.inputs_of(k).first; i < network.inputs_of(k).last; ++i) {
      const auto& link = network.links()[i];
      const std::size_t source = link ? network.subsystem_of_output(link->output) : k;
      if (!network.constraint(source) && candidates.contains(source)) {
        last = last == k ? source : std::max(last, source);
      }
    }
    result.insert({k, last});
  }
  return result;
}

}  // namespace

StaggeredEvaluation::StaggeredEvaluation(RankNetwork& subsystems) : evaluation_(subsystems) {
  const auto last = evaluated_last(subsystems.network());
  for (const std::size_t k : subsystems.all()) {
    evaluated_.push_back(last.contains(subsystems.global(k)));
  }
}

Outcome StaggeredEvaluation::outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                                     std::span<Sample> outputs) {
  return evaluated_[k] ? evaluation_.outputs(k, inputs, wanted, outputs) : Outcome::ok;
}

}  // namespace concord
