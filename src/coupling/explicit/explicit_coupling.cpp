#include "coupling/explicit/explicit_coupling.hpp"

#include <algorithm>

#include "support/agreement.hpp"

namespace concord {
namespace {

/// Busch's C0 hold: a line from where the last hold ended.
Polynomial from_last_end(const Polynomial& last, double last_step, double end, double h) {
  const double begin = last(last_step);
  return {{begin, (end - begin) / h, 0.0, 0.0}};
}

}  // namespace

ExplicitCoupling::ExplicitCoupling(const Method& method, RankNetwork& subsystems)
    : subsystems_(subsystems),
      hold_(method.hold),
      order_(method.hold_order),
      makes_consistent_(
          method.makes_outputs_consistent(subsystems.network()) &&
          (subsystems.network().has_feedthrough() || subsystems.network().has_constraints())),
      looks_ahead_(looks_ahead(subsystems)),
      knows_slopes_((order_ > 0 || method.takes_balance() || looks_ahead_) &&
                    everyone(subsystems, &Capabilities::output_derivatives)),
      repeats_first_(order_ > 2 && knows_slopes_ && everyone(subsystems, &Capabilities::rollback)),
      refines_first_(repeats_first_ && subsystems.network().has_feedthrough() &&
                     everyone(subsystems, &Capabilities::point_outputs)),
      wanted_(knows_slopes_ && method.constraints != Constraints::overlapping &&
                      (method.takes_balance() || method.extrapolation == Extrapolation::hermite ||
                       looks_ahead_)
                  ? Wanted::values_and_derivatives
                  : Wanted::values),
      outputs_fit_((makes_consistent_ || !subsystems.network().has_feedthrough()) &&
                   (!knows_slopes_ || wanted_ == Wanted::values_and_derivatives)),
      consistent_(subsystems),
      stages_(subsystems, method.groups),
      history_(subsystems.n_inputs(), method.hold_order, method.extrapolation) {
  if (subsystems.network().has_constraints()) {
    constraints_.emplace(subsystems, consistent_, method.constraints);
  }
  if (method.shapes_inputs()) {
    shaped_.emplace(method, subsystems);
  }
}

void ExplicitCoupling::start(const MacroStep& first, double stop, CommunicationPoint& point) {
  start_consistently(subsystems_, consistent_,
                     knows_slopes_ ? Wanted::values_and_derivatives : Wanted::values, first, stop,
                     point);
  history_.start(point.inputs, point.slopes_known);
  if (constraints_) {
    about_constraints_ = constraints_->describe(point.inputs, point.outputs);
  }
}

void ExplicitCoupling::hold(double h, const CommunicationPoint& point,
                            std::vector<Polynomial>& polynomials) const {
  const auto& connected = subsystems_.connected_inputs();
  history_.extrapolate(connected, polynomials);
  for (std::size_t j = 0; hold_.begins_at_last_end && j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    polynomials[i] = from_last_end(point.polynomials[i], point.last_step, polynomials[i](h), h);
  }
}

/// The end values in trial.inputs are known.
void ExplicitCoupling::interpolate(double h, std::span<const std::size_t> inputs,
                                   const CommunicationPoint& point, Trial& trial) const {
  if (!hold_.begins_at_last_end) {
    history_.interpolate(h, inputs, trial.inputs, trial.polynomials);
    return;
  }
  for (const std::size_t i : inputs) {
    trial.polynomials[i] =
        from_last_end(point.polynomials[i], point.last_step, trial.inputs[i].value, h);
  }
}

/// One integration of some own subsystems with the inputs in trial.polynomials.
Outcome ExplicitCoupling::advance(std::span<const std::size_t> which, const MacroStep& step,
                                  const CommunicationPoint& point, Trial& trial) {
  return shaped_ ? shaped_->advance(which, step, point, wanted_, trial)
                 : subsystems_.advance(which, step, trial.polynomials, InputContinuity::broken,
                                       wanted_, trial.outputs);
}

/// Of every subsystem; what is known by then takes the place of what was extrapolated.
Outcome ExplicitCoupling::advance_in_stages(const MacroStep& step, const CommunicationPoint& point,
                                            Trial& trial) {
  Outcome outcome = Outcome::ok;
  for (std::size_t s = 0; s < stages_.count() && outcome == Outcome::ok; ++s) {
    if (s > 0) {
      subsystems_.exchange(trial.outputs, stages_.known_inputs(s), trial.inputs);
      interpolate(step.size(), stages_.known_inputs(s), point, trial);
    }
    outcome = advance(stages_.members(s), step, point, trial);
    if (stages_.count() > 1) {
      outcome =
          static_cast<Outcome>(agree_on_largest(subsystems_.comm(), static_cast<int>(outcome)));
    }
  }
  return put_out(outcome, trial);
}

/// The inputs at the end of the macro-step.
Outcome ExplicitCoupling::put_out(Outcome outcome, Trial& trial) {
  subsystems_.exchange(trial.outputs, trial.inputs);
  if (!makes_consistent_) {
    return outcome;
  }
  const Outcome consistency = solve_at_end(trial);
  return outcome == Outcome::ok ? consistency : outcome;
}

Outcome ExplicitCoupling::solve_at_end(Trial& trial) {
  if (constraints_) {
    return constraints_->solve(wanted_, trial.inputs, trial.outputs);
  }
  CommunicationPointEvaluation evaluation(subsystems_);
  return consistent_.solve(evaluation, wanted_, trial.inputs, trial.outputs);
}

/// The first macro-step twice: the first time to learn where the inputs end, with direct
/// feedthrough as accurately as the states.
Outcome ExplicitCoupling::advance_first(const MacroStep& step, const CommunicationPoint& point,
                                        Trial& trial) {
  subsystems_.save();
  Outcome outcome = advance_in_stages(step, point, trial);
  if (refines_first_) {
    outcome = std::max(outcome, solve_at_end(trial));
  }
  subsystems_.restore();
  for (const std::size_t i : subsystems_.connected_inputs()) {
    trial.polynomials[i] =
        from_guess(Hold::soh, point.inputs[i], trial.inputs[i], step.size(), true);
  }
  const Outcome repeated = put_out(advance(subsystems_.all(), step, point, trial), trial);
  return outcome == Outcome::ok ? repeated : outcome;
}

/// Where the senders were not asked for slopes.
void ExplicitCoupling::take_slopes_of_holds(double h, Trial& trial) const {
  for (const std::size_t i : subsystems_.connected_inputs()) {
    trial.inputs[i].derivative = order_ > 0 ? trial.polynomials[i].derivative(h) : 0.0;
  }
}

CouplingReport ExplicitCoupling::solve(const MacroStep& step, const CommunicationPoint& point,
                                       Trial& trial) {
  const bool twice = repeats_first_ && point.last_step == 0.0;
  if (shaped_) {
    shaped_->begin(step, point);
  }
  hold(step.size(), point, trial.polynomials);
  const Outcome outcome =
      twice ? advance_first(step, point, trial) : advance_in_stages(step, point, trial);
  if (shaped_) {
    shaped_->measure(step, point, trial, wanted_, history_);
  }
  if (wanted_ == Wanted::values) {
    take_slopes_of_holds(step.size(), trial);
  }
  CouplingReport report;
  report.evaluations = twice ? 2 : 1;
  report.retryable = false;
  report.status = outcome == Outcome::ok ? CouplingStatus::converged : CouplingStatus::failed;
  return report;
}

void ExplicitCoupling::commit(const CommunicationPoint& point) { commit(point, point.last_step); }

void ExplicitCoupling::commit(const CommunicationPoint& point, double h) {
  history_.push(h, point.inputs);
  if (shaped_) {
    shaped_->commit();
  }
}

void ExplicitCoupling::restart(CommunicationPoint& point) {
  const Wanted wanted = knows_slopes_ ? Wanted::values_and_derivatives : Wanted::values;
  if (outputs_fit_) {
    make_touched_consistent(subsystems_, consistent_, wanted, point);
  } else {
    subsystems_.touched().add_all();
    make_consistent(subsystems_, consistent_, wanted, point);
  }
  history_.start(point.inputs, point.slopes_known);
  if (shaped_) {
    shaped_->restart();
  }
}

void ExplicitCoupling::io(Archive& archive) {
  CONCORD_MEMBERS(archive, consistent_, about_constraints_, history_);
  if (shaped_) {
    CONCORD_MEMBERS(archive, *shaped_);
  }
}

std::string ExplicitCoupling::explain(const CouplingReport& /*report*/) {
  if (const auto failure = agree_on_text(subsystems_.comm(), subsystems_.failure())) {
    return *failure;
  }
  return consistent_.failure();
}

}  // namespace concord
