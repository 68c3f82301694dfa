#include "coupling/explicit/direct_constraints.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "concord/errors.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// Change of an unknown from which the gains are found, relative to its size.
constexpr double gain_difference = 1e-5;

std::string subsystem_name(const Network& network, std::size_t k) {
  const std::string& first = network.output_names()[network.outputs_of(k).first];
  return first.substr(0, first.find('.'));
}

}  // namespace

/// Outputs of some of the subsystems for the inputs at hand; the others keep theirs. With `fixed`,
/// constraints put out that unknown instead of a corrected one.
class DirectConstraints::Evaluation : public PointEvaluation {
 public:
  Evaluation(RankNetwork& subsystems, const Mask& evaluated, const std::vector<double>* fixed)
      : subsystems_(subsystems), evaluated_(evaluated), fixed_(fixed) {}

  Outcome outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                  std::span<Sample> outputs) override {
    const Outcome outcome =
        evaluated_[k] ? subsystems_.point_outputs(k, inputs, wanted, outputs) : Outcome::ok;
    if (fixed_ != nullptr && subsystems_.own(k).description().constraint) {
      const std::size_t first = subsystems_.outputs_of(k).first;
      outputs[first + constraint_value] =
          outputs[first + constraint_corrected] = {(*fixed_)[k], 0.0};
    }
    return outcome;
  }

  /// 0 where the outputs stay, or are given.
  bool feedthrough(std::size_t k, std::span<const Sample> inputs,
                   std::vector<double>& g_u) override {
    const bool given = fixed_ != nullptr && subsystems_.own(k).description().constraint;
    if (evaluated_[k] && !given) {
      return subsystems_.feedthrough(k, inputs, g_u);
    }
    g_u.assign(subsystems_.outputs_of(k).size() * subsystems_.inputs_of(k).size(), 0.0);
    return true;
  }

  bool solves_constraint(std::size_t /*k*/) const override { return fixed_ == nullptr; }
  bool whole() const override { return false; }
  double time() const override { return subsystems_.time(); }

 private:
  RankNetwork& subsystems_;
  const Mask& evaluated_;
  const std::vector<double>* fixed_;
};

DirectConstraints::DirectConstraints(RankNetwork& subsystems, ConsistentInputs& consistent,
                                     Constraints treatment)
    : subsystems_(subsystems),
      consistent_(consistent),
      treatment_(treatment),
      everyone_(subsystems.n_own(), true),
      constraints_alone_(subsystems.n_own(), false),
      fixed_(subsystems.n_own(), 0.0),
      inputs_(subsystems.n_inputs()),
      outputs_(subsystems.n_outputs()) {
  const auto own_index = [&](std::size_t global) -> std::optional<std::size_t> {
    for (const std::size_t k : subsystems.all()) {
      if (subsystems.global(k) == global) {
        return k;
      }
    }
    return std::nullopt;
  };
  std::size_t most = 0;
  for (auto& carried : carried_constraints(subsystems.network())) {
    const std::size_t carriers = carried.carriers.size();
    const auto own = own_index(carried.constraint);
    most = std::max(most, carriers);
    constraints_.push_back({std::move(carried), own, 0.0, 0.0, std::vector<double>(carriers),
                            std::vector<double>(carriers)});
    if (own) {
      constraints_alone_[*own] = true;
    }
  }
  const auto with = [&](std::size_t i) {
    Mask mask = constraints_alone_;
    for (const auto& constraint : constraints_) {
      const auto& carriers = constraint.carried.carriers;
      if (carriers.empty()) {
        continue;
      }
      if (const auto own = own_index(carriers[std::min(i, carriers.size() - 1)])) {
        mask[*own] = true;
      }
    }
    return mask;
  };
  for (std::size_t i = 0; i < most; ++i) {
    with_carrier_.push_back(with(i));
  }
  with_last_ = with(most);
  if (treatment == Constraints::overlapping) {
    refuse_entangled();
  }
}

/// Everything in the constraint's loop must be its carriers', and reach them through it alone.
void DirectConstraints::refuse_entangled() const {
  const Network& network = subsystems_.network();
  for (const auto& constraint : constraints_) {
    const CarriedConstraint& carried = constraint.carried;
    const std::size_t corrected =
        network.outputs_of(carried.constraint).first + constraint_corrected;
    const auto& components = network.components();
    const auto loop =
        std::find_if(components.begin(), components.end(), [&](const auto& component) {
          return std::binary_search(component.outputs.begin(), component.outputs.end(), corrected);
        });
    const auto inside = [&](std::size_t output) {
      return std::binary_search(loop->outputs.begin(), loop->outputs.end(), output);
    };
    for (const auto& [output, input] : network.feedthrough()) {
      const auto& link = network.links()[input];
      if (!link || !inside(output) || !inside(link->output)) {
        continue;
      }
      const std::size_t to = network.subsystem_of_output(output);
      const std::size_t from = network.subsystem_of_output(link->output);
      if (to != carried.constraint && from != carried.constraint) {
        throw InputError(
            "-cosim_constraints overlapping: the unknown of constraint '" +
            subsystem_name(network, carried.constraint) + "' also acts through " +
            network.output_names()[link->output] + " -> " + network.input_names()[input] +
            ", so that the subsystems in it have no shares of their own; use projection");
      }
    }
  }
}

double& DirectConstraints::output(std::vector<Sample>& outputs, const Constraint& constraint,
                                  std::size_t which) {
  return outputs[subsystems_.outputs_of(*constraint.own).first + which].value;
}

/// The first guess of an unknown is what was held, not what is left of the equation beside it.
void DirectConstraints::begin_at_held(std::span<Sample> inputs,
                                      std::span<const Sample> outputs) const {
  for (const auto& constraint : constraints_) {
    if (constraint.own) {
      const std::size_t k = *constraint.own;
      inputs[subsystems_.inputs_of(k).first] =
          outputs[subsystems_.outputs_of(k).first + constraint_value];
    }
  }
}

Outcome DirectConstraints::solve(Wanted wanted, std::span<Sample> inputs,
                                 std::span<Sample> outputs) {
  begin_at_held(inputs, outputs);
  if (treatment_ == Constraints::overlapping) {
    return overlap(inputs, outputs);
  }
  Evaluation evaluation(subsystems_, treatment_ == Constraints::staggered ? with_last_ : everyone_,
                        nullptr);
  return consistent_.solve(evaluation, wanted, inputs, outputs);
}

/// From the given outputs, into inputs_ and outputs_.
Outcome DirectConstraints::evaluate_copy(Evaluation& evaluation, std::span<const Sample> inputs,
                                         std::span<const Sample> outputs) {
  std::copy(inputs.begin(), inputs.end(), inputs_.begin());
  std::copy(outputs.begin(), outputs.end(), outputs_.begin());
  return consistent_.solve(evaluation, Wanted::values, inputs_, outputs_);
}

void DirectConstraints::hold_unknowns(std::span<const Sample> outputs) {
  for (auto& constraint : constraints_) {
    if (constraint.own) {
      const std::size_t first = subsystems_.outputs_of(*constraint.own).first;
      constraint.held = fixed_[*constraint.own] = outputs[first + constraint_value].value;
    }
  }
}

/// s_i by differences: carrier i alone learns of a changed unknown.
Outcome DirectConstraints::find_gains(std::span<const Sample> inputs,
                                      std::span<const Sample> outputs) {
  Evaluation unchanged(subsystems_, constraints_alone_, &fixed_);
  Outcome outcome = evaluate_copy(unchanged, inputs, outputs);
  for (auto& constraint : constraints_) {
    if (constraint.own) {
      constraint.residual = output(outputs_, constraint, constraint_residual);
    }
  }
  const auto change = [&](const Constraint& constraint) {
    const std::size_t value = subsystems_.outputs_of(*constraint.own).first + constraint_value;
    const double size = std::max(std::abs(constraint.held), subsystems_.output_sizes()[value]);
    return gain_difference * (size > 0.0 ? size : 1.0);
  };
  for (const auto& constraint : constraints_) {
    if (constraint.own) {
      fixed_[*constraint.own] = constraint.held + change(constraint);
    }
  }
  for (std::size_t i = 0; i < with_carrier_.size(); ++i) {
    Evaluation changed(subsystems_, with_carrier_[i], &fixed_);
    outcome = std::max(outcome, evaluate_copy(changed, inputs, outputs));
    for (auto& constraint : constraints_) {
      if (constraint.own && i < constraint.gains.size()) {
        constraint.gains[i] =
            (output(outputs_, constraint, constraint_residual) - constraint.residual) /
            change(constraint);
      }
    }
  }
  return outcome;
}

Outcome DirectConstraints::solve_copies(std::span<const Sample> inputs,
                                        std::span<const Sample> outputs) {
  Outcome outcome = Outcome::ok;
  for (std::size_t i = 0; i < with_carrier_.size(); ++i) {
    Evaluation copy(subsystems_, with_carrier_[i], nullptr);
    outcome = std::max(outcome, evaluate_copy(copy, inputs, outputs));
    for (auto& constraint : constraints_) {
      if (constraint.own && i < constraint.changes.size()) {
        constraint.changes[i] = output(outputs_, constraint, constraint_value) - constraint.held;
      }
    }
  }
  return outcome;
}

/// Copies, weights, then all outputs with the combined unknowns.
Outcome DirectConstraints::overlap(std::span<Sample> inputs, std::span<Sample> outputs) {
  hold_unknowns(outputs);
  Outcome outcome = find_gains(inputs, outputs);
  outcome = std::max(outcome, solve_copies(inputs, outputs));
  for (const auto& constraint : constraints_) {
    if (!constraint.own) {
      continue;
    }
    double sum = 0.0;
    for (const double gain : constraint.gains) {
      sum += gain;
    }
    double& unknown = fixed_[*constraint.own];
    unknown = constraint.held;
    for (std::size_t i = 0; i < constraint.gains.size(); ++i) {
      const double weight =
          constraint.gains[i] / (static_cast<double>(constraint.gains.size()) * sum);
      unknown += weight * constraint.changes[i];
    }
  }
  Evaluation combined(subsystems_, everyone_, &fixed_);
  return std::max(outcome, consistent_.solve(combined, Wanted::values, inputs, outputs));
}

std::string DirectConstraints::describe(std::span<const Sample> inputs,
                                        std::span<const Sample> outputs) {
  const Network& network = subsystems_.network();
  hold_unknowns(outputs);
  find_gains(inputs, outputs);
  std::ostringstream text;
  text.precision(4);
  for (const auto& constraint : constraints_) {
    std::vector<double> gains;
    double sum = 0.0;
    for (const double gain : constraint.gains) {
      gains.push_back(agree_on_sum(subsystems_.comm(), constraint.own ? gain : 0.0));
      sum += gains.back();
    }
    text << "constraint " << subsystem_name(network, constraint.carried.constraint) << ": shares";
    for (std::size_t i = 0; i < gains.size(); ++i) {
      text << ' ' << subsystem_name(network, constraint.carried.carriers[i]) << ' '
           << gains[i] / sum;
    }
    if (!gains.empty()) {
      text << "; staggered has alpha " << std::abs(sum / gains.back() - 1.0)
           << ", projection and overlapping 0";
    }
    text << '\n';
  }
  return text.str();
}

}  // namespace concord
