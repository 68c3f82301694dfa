#include "coupling/explicit_coupling.hpp"

#include "support/agreement.hpp"

namespace concord {

ExplicitCoupling::ExplicitCoupling(const Method& method, RankNetwork& subsystems)
    : subsystems_(subsystems),
      order_(method.hold_order),
      makes_consistent_(method.consistent_outputs && subsystems.network().has_feedthrough()),
      consistent_(subsystems),
      history_(subsystems.n_inputs(), method.hold_order) {}

void ExplicitCoupling::start(const MacroStep& first, double stop, CommunicationPoint& point) {
  start_consistently(subsystems_, consistent_, Wanted::values, first, stop, point);
  commit(point);
}

void ExplicitCoupling::hold(const CommunicationPoint& point,
                            std::vector<Polynomial>& polynomials) const {
  if (order_ > 0) {
    history_.extrapolate(subsystems_.connected_inputs(), polynomials);
    return;
  }
  for (const std::size_t i : subsystems_.connected_inputs()) {
    polynomials[i].c = {point.inputs[i].value, 0.0, 0.0, 0.0};
  }
}

CouplingReport ExplicitCoupling::solve(const MacroStep& step, const CommunicationPoint& point,
                                       Trial& trial) {
  hold(point, trial.polynomials);
  Outcome outcome = subsystems_.advance(subsystems_.all(), step, trial.polynomials, InputContinuity::broken,
                                        Wanted::values, trial.outputs);
  subsystems_.exchange(trial.outputs, trial.inputs);
  if (makes_consistent_) {
    CommunicationPointEvaluation evaluation(subsystems_);
    const Outcome consistency =
        consistent_.solve(evaluation, Wanted::values, trial.inputs, trial.outputs);
    outcome = outcome == Outcome::ok ? consistency : outcome;
  }
  const double h = step.size();
  for (const std::size_t i : subsystems_.connected_inputs()) {
    trial.inputs[i].derivative = order_ > 0 ? trial.polynomials[i].derivative(h) : 0.0;
  }
  CouplingReport report;
  report.evaluations = 1;
  report.retryable = false;
  report.status = outcome == Outcome::ok ? CouplingStatus::converged : CouplingStatus::failed;
  return report;
}

void ExplicitCoupling::commit(const CommunicationPoint& point) {
  if (order_ > 0) {
    history_.push(point.time, point.inputs);
  }
}

std::string ExplicitCoupling::explain(const CouplingReport& /*report*/) {
  if (const auto failure = agree_on_text(subsystems_.comm(), subsystems_.failure())) {
    return *failure;
  }
  return consistent_.failure();
}

}  // namespace concord
