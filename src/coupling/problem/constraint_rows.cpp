#include "coupling/problem/constraint_rows.hpp"

#include <cmath>

namespace concord {

ConstraintRows::ConstraintRows(const RankNetwork& subsystems)
    : subsystems_(subsystems), any_(subsystems.network().has_constraints()) {
  const Network& network = subsystems.network();
  for (std::size_t k = 0; k < network.n_subsystems(); ++k) {
    any_indirect_ = any_indirect_ || network.constraint(k) == ConstraintKind::indirect;
  }
  for (std::size_t k = 0; any_ && k < subsystems.n_own(); ++k) {
    const std::size_t g = subsystems.global(k);
    const auto kind = network.constraint(g);
    const IndexRange own = subsystems.inputs_of(k);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto& link = network.coupled_links()[network.inputs_of(g).first + i];
      if (!link) {
        continue;
      }
      const auto source = network.constraint(network.subsystem_of_output(link->output));
      const bool guess = kind && i == 0;
      if (guess && kind == ConstraintKind::indirect) {
        unknowns_.push_back(afresh_.size());
      }
      equation_.push_back(guess);
      gamma_.push_back(guess ? subsystems.outputs_of(k).first + constraint_residual : 0);
      afresh_.push_back(!kind && source == ConstraintKind::indirect);
      compared_.push_back(guess ? IndexRange{own.first + 1, own.last} : IndexRange{});
    }
  }
}

double ConstraintRows::sum_of_terms(std::size_t j, std::span<const Sample> inputs) const {
  const auto weights = subsystems_.equation_weights();
  double sum = 0.0;
  for (std::size_t i = compared_[j].first; i < compared_[j].last; ++i) {
    sum += weights[i] * std::abs(inputs[i].value);
  }
  return sum;
}

double ConstraintRows::usual_size(std::size_t j) const {
  double sum = 0.0;
  if (!is_equation(j)) return sum;
  for (std::size_t i = compared_[j].first; i < compared_[j].last; ++i) {
    sum += subsystems_.equation_weights()[i] * subsystems_.input_sizes()[i];
  }
  return sum;
}

}  // namespace concord
