#include "coupling/implicit/missiles_coupling.hpp"

#include <sstream>

#include "coupling/points/constraint_start.hpp"
#include "support/agreement.hpp"
#include "support/work_clock.hpp"

namespace concord {

MissilesCoupling::MissilesCoupling(const Method& method, RankNetwork& subsystems)
    : method_(method),
      subsystems_(subsystems),
      consistent_(subsystems),
      constraints_(subsystems),
      constraint_sizes_(subsystems),
      joins_(subsystems, constraints_, method_.hold),
      estimators_(subsystems, method.estimator, method.hold),
      system_(subsystems, estimators_, method.hold, method.tolerance),
      error_(subsystems, method.hold, method.adapt_tolerance),
      terms_(subsystems, constraints_, &estimators_),
      fed_(subsystems.n_inputs()),
      misses_(subsystems, constraints_, method.tolerance),
      growth_(subsystems),
      iteration_(subsystems, joins_, estimators_, system_, misses_, fed_, method.max_it) {}

void MissilesCoupling::start(const MacroStep& first, double stop, CommunicationPoint& point) {
  start_consistently(subsystems_, consistent_, wanted_of(method_.hold), first, stop, point);
  start_constraints(subsystems_, consistent_, constraints_, method_.tolerance, point);
  constraint_sizes_.see(point.inputs, point.outputs);
  error_.restart(point);
}

/// Inputs at the end of the macro-step; once more where they show that slopes at t_N mislead.
bool MissilesCoupling::predict(const MacroStep& step, const CommunicationPoint& point,
                               Trial& trial) {
  const PhaseScope scope(subsystems_.clock(), Phase::solve);
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
  report.status = CouplingStatus::failed;
  iteration_.begin();
  settled_ = false;
  run_away_.reset();
  if (!predict(step, point, trial)) {
    return report;
  }
  report.linear_iterations = static_cast<std::int32_t>(system_.linear_iterations());
  integrate(step, point, trial, report);
  growth_.look(misses_, fed_);
  if (iteration_.possible() && (growth_.doubtful() || (misses_.far_off() && !iteration_.rests()))) {
    iterate(step, point, trial, report);
  } else if (method_.hold.ends_with_curvature() && point.last_step == 0.0 &&
             iteration_.possible()) {
    settle(step, point, trial, report);
  }
  report.residual = misses_.ratio();
  report.ended_early = iteration_.ended_early() && report.residual >= 1.0;
  if (method_.estimate == ErrorEstimate::predictor) {
    estimate_error(step, trial, report);
  }
  if (misses_.finite() && runs_away()) {
    run_away_ = words_of_worst(trial);
  }
  report.status =
      misses_.finite() && !run_away_ ? CouplingStatus::converged : CouplingStatus::failed;
  return report;
}

void MissilesCoupling::estimate_error(const MacroStep& step, const Trial& trial,
                                      CouplingReport& report) {
  report.error = error_.norm(step, trial, fed_, {});
  report.error_order = error_.order();
  if (report.error > ErrorNorm::doubtful) {
    terms_.forget();
    terms_.learn(trial.inputs, nullptr);
    report.error = error_.norm(step, trial, fed_, terms_.values());
  }
}

/// Every subsystem once, with the inputs that end in trial.inputs.
void MissilesCoupling::integrate(const MacroStep& step, const CommunicationPoint& point,
                                 Trial& trial, CouplingReport& report) {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    trial.polynomials[i] = joins_.afresh(j)
                               ? from_end(method_.hold, trial.inputs[i], step.size())
                               : from_guess(method_.hold, point.inputs[i], trial.inputs[i],
                                            step.size(), joins_.has_slope(j, point));
  }
  const bool joined = point.last_step > 0.0 && !constraints_.any_indirect() &&
                      !joins_.any_layer() && report.evaluations == 0;
  const auto continuity = joined ? InputContinuity::smooth : InputContinuity::broken;
  const Outcome outcome = subsystems_.advance(subsystems_.all(), step, trial.polynomials,
                                              continuity, wanted_of(method_.hold), trial.outputs);
  subsystems_.exchange(trial.outputs, fed_);
  ++report.evaluations;
  misses_.measure(trial, fed_, outcome);
}

void MissilesCoupling::iterate(const MacroStep& step, const CommunicationPoint& point, Trial& trial,
                               CouplingReport& report) {
  iteration_.run(step, point, trial, [&] { integrate(step, point, trial, report); });
  report.iterations = report.evaluations - 1;
}

/// The defect is that of the prediction, as it was made.
void MissilesCoupling::settle(const MacroStep& step, const CommunicationPoint& point, Trial& trial,
                              CouplingReport& report) {
  estimators_.observe(trial.inputs, trial.outputs);
  settled_ = true;
  iteration_.settle(point, trial, [&] { integrate(step, point, trial, report); });
  report.iterations = report.evaluations - 1;
}

/// Whether the trial is no result, though it is finite.
bool MissilesCoupling::runs_away() const {
  return growth_.astray(misses_) || iteration_.unfinished() ||
         (iteration_.done() && growth_.doubtful() && misses_.noticeable());
}

/// Empty where the worst input is another rank's.
std::string MissilesCoupling::words_of_worst(const Trial& trial) const {
  const std::string input = misses_.worst(trial, fed_);
  if (input.empty()) {
    return input;
  }
  if (iteration_.unfinished()) {
    return input + ", and iterations don't bring them together";
  }
  std::ostringstream words;
  words << input << ", signals have grown " << growth_.factor() << " times in "
        << growth_.macro_steps() << " macro-steps that all missed them";
  return words.str();
}

void MissilesCoupling::commit(const CommunicationPoint& point) {
  system_.commit(point);
  constraint_sizes_.see(point.inputs, point.outputs);
  if (iteration_.done()) {
    estimators_.forget();
  } else if (!settled_) {
    estimators_.observe(point.inputs, point.outputs);
  }
  iteration_.commit();
  growth_.commit(misses_);
  if (method_.estimate == ErrorEstimate::predictor) {
    error_.commit(point);
  }
}

void MissilesCoupling::restart(CommunicationPoint& point) {
  make_touched_consistent(subsystems_, consistent_, wanted_of(method_.hold), point);
  restart_constraints(subsystems_, consistent_, constraints_, point);
  estimators_.restart_touched();
  error_.restart(point);
  iteration_.restart();
  growth_.restart();
}

std::string MissilesCoupling::explain(const CouplingReport& report) {
  if (const auto words = agree_on_text(
          subsystems_.comm(), run_away_ && !run_away_->empty() ? run_away_ : std::nullopt)) {
    return "MISSILES runs away: " + *words + "; use a smaller -cosim_step" +
           (iteration_.possible() ? ", or -cosim_type jfm" : ", or -cosim_adapt predictor");
  }
  if (const auto failure = estimators_.explain()) {
    return *failure;
  }
  return report.evaluations > 0
             ? "what the subsystems put out is not finite; use a smaller -cosim_step"
             : "the linear system of MISSILES could not be solved; try another -missiles_pc_type, "
               "or a smaller -cosim_step";
}

}  // namespace concord
