#include "coupling/explicit/staggered_grid_coupling.hpp"

#include <algorithm>

#include "support/agreement.hpp"

namespace concord {

StaggeredGridCoupling::StaggeredGridCoupling(const Method& method, RankNetwork& subsystems)
    : subsystems_(subsystems),
      makes_consistent_(method.consistent_outputs && subsystems.network().has_feedthrough()),
      consistent_(subsystems) {
  const auto& early = method.groups.front();
  for (const std::size_t k : subsystems.all()) {
    const bool is_first =
        std::find(early.begin(), early.end(), subsystems.global(k)) != early.end();
    (is_first ? first_ : second_).members.push_back(k);
    const IndexRange range = subsystems.inputs_of(k);
    for (const std::size_t i : subsystems.connected_inputs()) {
      if (i >= range.first && i < range.last) {
        (is_first ? first_ : second_).inputs.push_back(i);
      }
    }
  }
}

void StaggeredGridCoupling::start(const MacroStep& first, double stop, CommunicationPoint& point) {
  start_consistently(subsystems_, consistent_, Wanted::values, first, stop, point);
}

/// With the inputs in trial.inputs held; then everyone learns of the new outputs.
Outcome StaggeredGridCoupling::advance(const Group& group, const MacroStep& step, Trial& trial) {
  for (const std::size_t i : group.inputs) {
    trial.polynomials[i] = {{trial.inputs[i].value, 0.0, 0.0, 0.0}};
  }
  const Outcome outcome =
      subsystems_.advance(group.members, step, trial.polynomials, InputContinuity::broken,
                          Wanted::values, trial.outputs);
  subsystems_.exchange(trial.outputs, trial.inputs);
  return outcome;
}

CouplingReport StaggeredGridCoupling::solve(const MacroStep& step, const CommunicationPoint& point,
                                            Trial& trial) {
  const double half = 0.5 * step.size();
  const double middle = step.begin + half;
  trial.inputs = point.inputs;
  Outcome outcome = advance(second_, {step.begin, middle, half}, trial);
  outcome = std::max(outcome, advance(first_, step, trial));
  outcome = std::max(outcome, advance(second_, {middle, step.end, half}, trial));
  if (makes_consistent_) {
    CommunicationPointEvaluation evaluation(subsystems_);
    outcome = std::max(outcome,
                       consistent_.solve(evaluation, Wanted::values, trial.inputs, trial.outputs));
  }
  CouplingReport report;
  report.evaluations = 1;
  report.retryable = false;
  report.status = outcome == Outcome::ok ? CouplingStatus::converged : CouplingStatus::failed;
  return report;
}

void StaggeredGridCoupling::restart(CommunicationPoint& point) {
  subsystems_.touched().add_all();
  make_consistent(subsystems_, consistent_, Wanted::values, point);
}

std::string StaggeredGridCoupling::explain(const CouplingReport& /*report*/) {
  if (const auto failure = agree_on_text(subsystems_.comm(), subsystems_.failure())) {
    return *failure;
  }
  return consistent_.failure();
}

}  // namespace concord
