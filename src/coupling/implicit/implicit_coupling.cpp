#include "coupling/implicit/implicit_coupling.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "coupling/points/constraint_start.hpp"
#include "support/agreement.hpp"
#include "support/work_clock.hpp"

namespace concord {
namespace {

/// Relative to the largest value of an input so far: what is left of differences (output slopes)
/// and, in units of the integrators' rtol, of their decisions on orders and step sizes.
constexpr double rounding_noise = 1e-11;
constexpr double integrator_noise = 10.0;

template <class T>
T* pointer_to(std::optional<T>& value) {
  return value ? &*value : nullptr;
}

/// "; algebraic loop a.y -> a.u -> a.y": the first few.
std::string loops_in_words(const Network& network) {
  constexpr int shown = 3;
  int loops = 0;
  std::string text;
  for (const auto& component : network.components()) {
    if (component.loop && ++loops <= shown) {
      text += "; algebraic loop " + network.describe_loop(component);
    }
  }
  return loops > shown ? text + "; " + std::to_string(loops - shown) + " more" : text;
}

}  // namespace

ImplicitCoupling::Parts::Parts(ImplicitCoupling& of, double noise_level)
    : unknowns(of.subsystems_, of.constraints_, of.method_.tolerance, of.method_.hold.unknowns),
      evaluation(of.method_.hold, wanted_at_points(of.method_.hold, of.subsystems_), of.subsystems_,
                 of.constraints_, of.joins_, of.stages_, pointer_to(of.estimators_), unknowns,
                 of.attempt_),
      jacobian(of.subsystems_, of.constraints_, of.joins_,
               of.method_.predictor == Predictor::missiles ? pointer_to(of.missiles_) : nullptr,
               unknowns, evaluation, of.attempt_),
      convergence(of.subsystems_, of.constraints_, of.method_.tolerance, noise_level,
                  pointer_to(of.estimators_), unknowns, evaluation, jacobian, of.attempt_),
      guess(of.method_, of.subsystems_, of.joins_, pointer_to(of.estimators_),
            pointer_to(of.missiles_), unknowns, evaluation, jacobian, convergence, of.attempt_),
      solver(of.method_, noise_level / integrator_noise, of.subsystems_.comm(), of.constraints_,
             unknowns, evaluation, jacobian, convergence) {}

ImplicitCoupling::ImplicitCoupling(const Method& method, RankNetwork& subsystems, double loosest)
    : method_(method),
      subsystems_(subsystems),
      consistent_(subsystems),
      constraints_(subsystems),
      constraint_sizes_(subsystems),
      joins_(subsystems, constraints_, method_.hold),
      stages_(subsystems, method.groups),
      error_estimate_(subsystems, method.hold, method.adapt_tolerance) {
  create_estimators();
  parts_.emplace(*this, std::max(rounding_noise, integrator_noise * loosest));
}

void ImplicitCoupling::create_estimators() {
  const bool euler = method_.predictor == Predictor::linear_implicit;
  const bool predicts = method_.predictor == Predictor::missiles || euler;
  if (predicts || stages_.some_estimated()) {
    estimators_.emplace(
        subsystems_,
        euler ? EstimatorSettings{Defect::none, Response::linear_implicit} : method_.estimator,
        method_.hold);
  }
  if (predicts) {
    missiles_.emplace(subsystems_, *estimators_, method_.hold, method_.tolerance);
  }
}

void ImplicitCoupling::start(const MacroStep& first, double stop, CommunicationPoint& point) {
  start_consistently(subsystems_, consistent_, parts_->evaluation.wanted(), first, stop, point);
  start_constraints(subsystems_, consistent_, constraints_, method_.tolerance, point);
  constraint_sizes_.see(point.inputs, point.outputs);
  remember(point);
  parts_->guess.start(point);
  error_estimate_.restart(point);
}

void ImplicitCoupling::commit(const CommunicationPoint& point) {
  constraint_sizes_.see(point.inputs, point.outputs);
  parts_->guess.commit(point);
  remember(point);
  if (method_.estimate == ErrorEstimate::predictor) {
    error_estimate_.commit(point);
  }
  if (estimators_) {
    estimators_->observe(point.inputs, point.outputs);
  }
}

void ImplicitCoupling::remember(const CommunicationPoint& point) {
  parts_->unknowns.see(point);
  if (missiles_) {
    missiles_->commit(point);
  }
}

/// The Jacobian's own, at the end, is made of what comes before.
void ImplicitCoupling::io(Archive& archive) {
  CONCORD_MEMBERS(archive, consistent_, constraint_sizes_);
  bool changed = archive.changes([&] { CONCORD_MEMBERS(archive, parts_->unknowns); });
  CONCORD_MEMBERS(archive, parts_->guess, error_estimate_, parts_->convergence, parts_->evaluation);
  if (estimators_) {
    CONCORD_MEMBERS(archive, *estimators_);
  }
  if (missiles_) {
    changed = archive.changes([&] { CONCORD_MEMBERS(archive, *missiles_); }) || changed;
  }
  archive.enter(parts_->jacobian);
  parts_->jacobian.io(archive, changed);
}

void ImplicitCoupling::rejected() {
  if (estimators_) {
    estimators_->forget();
  }
}

void ImplicitCoupling::restart(CommunicationPoint& point) {
  make_touched_consistent(subsystems_, consistent_, parts_->evaluation.wanted(), point);
  restart_constraints(subsystems_, consistent_, constraints_, point);
  parts_->guess.start(point);
  error_estimate_.restart(point);
  parts_->convergence.forget();
  if (estimators_) {
    estimators_->restart_touched();
  }
}

/// From a guess that has been evaluated. SNES is not called where that is converged, as the
/// estimators' prediction mostly is: its look at its options costs more than the rest.
void ImplicitCoupling::iterate(CouplingReport& report) {
  if (parts_->guess.is_good() && !parts_->solver.watched()) {
    parts_->convergence.accept_guess();
    report.residual = parts_->convergence.first().ratio;
    return;
  }
  if (parts_->convergence.first().guessed_scales) {
    parts_->jacobian.settle_scales();
  }
  parts_->solver.solve(report);
}

CouplingReport ImplicitCoupling::solve(const MacroStep& step, const CommunicationPoint& point,
                                       Trial& trial) {
  const PhaseScope scope(subsystems_.clock(), Phase::solve);
  attempt_ = {step, &point, &trial};
  parts_->evaluation.begin();
  parts_->jacobian.begin();
  parts_->convergence.begin();
  CouplingReport report;
  report.status = CouplingStatus::failed;
  if (!parts_->guess.begin()) {
    report.retryable = false;
    return report;
  }
  bool found = parts_->guess.find(false);
  if (found) {
    iterate(report);
  }
  // A Jacobian of earlier macro-steps, or the estimators', may be what led astray.
  const CouplingJacobian& jacobian = parts_->jacobian;
  if (found && parts_->convergence.verdict() == CouplingConvergence::Verdict::going_on &&
      jacobian.serves_solver() && !jacobian.is_differenced()) {
    found = parts_->guess.find(true);
    if (found) {
      iterate(report);
    }
  }
  if (found) {
    finish(report);
  }
  report.evaluations = parts_->evaluation.count();
  return report;
}

/// What the macro-step is, after its last iterate.
void ImplicitCoupling::finish(CouplingReport& report) {
  CouplingConvergence& convergence = parts_->convergence;
  using Verdict = CouplingConvergence::Verdict;
  report.at_noise = convergence.verdict() == Verdict::noise;
  report.ended_early = convergence.verdict() == Verdict::out_of_time;
  report.noise = report.at_noise ? std::max(report.residual, convergence.error()) : 0.0;
  report.status = convergence.failed()                         ? CouplingStatus::failed
                  : convergence.verdict() == Verdict::going_on ? CouplingStatus::not_converged
                                                               : CouplingStatus::converged;
  if (report.status != CouplingStatus::converged) {
    parts_->jacobian.drop();
    return;
  }
  CouplingEvaluation& evaluation = parts_->evaluation;
  if (stages_.some_estimated()) {
    evaluation.integrate_estimated();
    report.retryable = false;
    report.status = evaluation.failed() ? CouplingStatus::failed : CouplingStatus::converged;
  }
  Trial& trial = *attempt_.trial;
  if (method_.estimate == ErrorEstimate::predictor) {
    const auto norm = [&](std::span<const Sample> terms) {
      return error_estimate_.norm(attempt_.step, trial, evaluation.fed(), terms);
    };
    report.error = norm({});
    report.error = report.error > ErrorNorm::doubtful ? norm(convergence.terms()) : report.error;
    report.error_order = error_estimate_.order();
  }
  const bool ends_with_slopes_of_outputs =
      method_.hold.joins_slopes_of_outputs() || evaluation.wanted() != wanted_of(method_.hold);
  for (const std::size_t i : subsystems_.connected_inputs()) {
    trial.inputs[i].derivative = ends_with_slopes_of_outputs
                                     ? evaluation.fed()[i].derivative
                                     : trial.polynomials[i].derivative(attempt_.h());
  }
}

/// "residual 0.1 times the tolerance, error 20 times" and what contraction is left.
std::string ImplicitCoupling::describe_progress(const CouplingReport& report) const {
  const double error = parts_->convergence.error();
  const double rate = parts_->convergence.rate();
  std::ostringstream text;
  text << "residual " << report.residual << " times the tolerance";
  if (std::isfinite(error) && error > report.residual) {
    text << ", error of the inputs " << error << " times";
  }
  if (rate > 0.0 && rate < 1.0) {
    text << "; an iteration leaves " << rate << " of it";
  }
  return text.str();
}

std::string ImplicitCoupling::explain(const CouplingReport& report) {
  const auto failure = report.status != CouplingStatus::failed ? std::nullopt
                       : estimators_                           ? estimators_->explain()
                                     : agree_on_text(subsystems_.comm(), subsystems_.failure());
  if (failure) {
    const bool fatal = agree_on_largest(subsystems_.comm(), subsystems_.fatal() ? 1 : 0) != 0;
    return *failure + (fatal ? "" : parts_->guess.describe(*failure));
  }
  std::string text =
      parts_->solver.describe(report, describe_progress(report)) + parts_->guess.describe();
  text += loops_in_words(subsystems_.network());
  text += parts_->solver.is_fixed_point()
              ? "; use a Newton method: -cosim_type jfm (or -snes_type newtonls), a larger "
                "-cosim_max_it, or a smaller -cosim_step"
              : "; use a smaller -cosim_step, -cosim_adapt iteration, a larger "
                "-cosim_max_it, or another -snes_type";
  return text;
}

}  // namespace concord
