#include "coupling/missiles_coupling.hpp"

#include <cmath>

#include "coupling/constraint_start.hpp"
#include "support/agreement.hpp"
#include "support/log_events.hpp"

namespace concord {

MissilesCoupling::MissilesCoupling(const Method& method, RankNetwork& subsystems)
    : method_(method),
      subsystems_(subsystems),
      consistent_(subsystems),
      constraints_(subsystems),
      joins_(subsystems, constraints_),
      estimators_(subsystems, method.estimator),
      system_(subsystems, estimators_, method.tolerance),
      error_(subsystems, method.adapt_tolerance.relative, method.adapt_tolerance.absolute),
      fed_(subsystems.n_inputs()) {}

void MissilesCoupling::start(const MacroStep& first, double stop, CommunicationPoint& point) {
  start_consistently(subsystems_, consistent_, Wanted::values_and_derivatives, first, stop, point);
  refuse_inconsistent_start(subsystems_, constraints_, method_.tolerance.relative,
                            method_.tolerance.absolute, point);
}

/// Inputs at the end of the macro-step; once more where they show that slopes at t_N mislead.
bool MissilesCoupling::predict(const MacroStep& step, const CommunicationPoint& point,
                               Trial& trial) {
  const LogScope scope(log_events().solve);
  joins_.begin();
  for (;;) {
    estimators_.begin_afresh(joins_.afresh());
    const auto state = estimators_.prepare(step, point);
    if (!system_.solve(state, step, point, trial.inputs)) {
      return false;
    }
    if (joins_.any_layer() || !joins_.find_layers(point, trial.inputs, step.size())) {
      return true;
    }
  }
}

CouplingReport MissilesCoupling::solve(const MacroStep& step, const CommunicationPoint& point,
                                       Trial& trial) {
  CouplingReport report;
  report.retryable = method_.estimate == ErrorEstimate::predictor;
  if (!predict(step, point, trial)) {
    report.status = CouplingStatus::failed;
    return report;
  }
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    trial.polynomials[i] = joins_.afresh(j)
                               ? from_end(Hold::hermite, trial.inputs[i], step.size())
                               : from_guess(Hold::hermite, point.inputs[i], trial.inputs[i],
                                            step.size(), point.slopes_known);
  }
  const bool joined = point.last_step > 0.0 && !constraints_.any_indirect() && !joins_.any_layer();
  const auto continuity = joined ? InputContinuity::smooth : InputContinuity::broken;
  const Outcome outcome =
      subsystems_.advance(subsystems_.all(), step, trial.polynomials, continuity,
                          Wanted::values_and_derivatives, trial.outputs);
  subsystems_.exchange(trial.outputs, fed_);
  report.evaluations = 1;
  report.linear_iterations = static_cast<std::int32_t>(system_.linear_iterations());
  report.residual = worst_ratio(trial);
  if (method_.estimate == ErrorEstimate::predictor) {
    report.error = error_.norm(step, point, trial, fed_);
    report.error_order = PredictionError::order;
  }
  report.status = outcome == Outcome::ok ? CouplingStatus::converged : CouplingStatus::failed;
  return report;
}

/// What is left of the coupling condition, for the record: nothing is iterated.
double MissilesCoupling::worst_ratio(const Trial& trial) const {
  double worst = 0.0;
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const double difference = std::abs(trial.inputs[connected[j]].value - fed_[connected[j]].value);
    const double size = constraints_.size(j, trial.inputs);
    worst = std::max(worst,
                     difference / (method_.tolerance.relative * size + method_.tolerance.absolute));
  }
  return agree_on_largest(subsystems_.comm(), worst);
}

void MissilesCoupling::commit(const CommunicationPoint& point) {
  estimators_.observe(point);
  system_.commit(point);
  error_.commit(point);
}

void MissilesCoupling::restart(CommunicationPoint& point) {
  make_consistent(subsystems_, consistent_, Wanted::values_and_derivatives, point);
  estimators_.forget();
}

std::string MissilesCoupling::explain(const CouplingReport& /*report*/) {
  if (const auto failure = estimators_.explain()) {
    return *failure;
  }
  return "the linear system of MISSILES could not be solved; try another -missiles_pc_type, or a "
         "smaller -cosim_step";
}

}  // namespace concord
