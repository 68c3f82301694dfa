#include "coupling/implicit/coupling_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/agreement.hpp"
#include "support/vec_entries.hpp"

namespace concord {

CouplingEvaluation::CouplingEvaluation(const Hold& hold, Wanted wanted, RankNetwork& subsystems,
                                       const ConstraintRows& constraints, const Joins& joins,
                                       const EvaluationStages& stages, Estimators* estimators,
                                       const CouplingUnknowns& unknowns, const StepAttempt& attempt)
    : subsystems_(subsystems),
      constraints_(constraints),
      joins_(joins),
      stages_(stages),
      estimators_(estimators),
      unknowns_(unknowns),
      attempt_(attempt),
      hold_(hold),
      wanted_(wanted),
      fed_(subsystems.n_inputs()),
      evaluated_(unknowns.count()) {}

void CouplingEvaluation::begin() {
  count_ = 0;
  moved_ = false;
}

void CouplingEvaluation::evaluated_at(Vec v) {
  const ReadEntries values(v);
  std::copy(values.all().begin(), values.all().end(), evaluated_.begin());
}

void CouplingEvaluation::read(Vec v) {
  evaluated_at(v);
  unknowns_.read(v, stages_.known(), attempt_.trial->inputs);
}

bool CouplingEvaluation::was_at(Vec v) const {
  const ReadEntries values(v);
  return std::equal(evaluated_.begin(), evaluated_.end(), values.all().begin());
}

void CouplingEvaluation::evaluate(Vec v) {
  read(v);
  integrate();
}

/// Input j over the macro-step, from its end value in trial.inputs.
void CouplingEvaluation::hold(std::size_t j) {
  const std::size_t i = subsystems_.connected_inputs()[j];
  const CommunicationPoint& point = *attempt_.point;
  const Sample& end = attempt_.trial->inputs[i];
  attempt_.trial->polynomials[i] =
      joins_.afresh(j)
          ? from_end(hold_, end, attempt_.h())
          : from_guess(hold_, point.inputs[i], end, attempt_.h(), joins_.has_slope(j, point));
}

/// All inputs from their end values, all subsystems at the beginning of the macro-step. End values
/// that are not finite fail before any subsystem sees them.
void CouplingEvaluation::restore() {
  failed_ = false;
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const Sample& end = attempt_.trial->inputs[connected[j]];
    failed_ = failed_ || !std::isfinite(end.value) || !std::isfinite(end.derivative) ||
              !std::isfinite(end.curvature);
    hold(j);
  }
  if (moved_) {
    subsystems_.restore();
  }
  moved_ = true;
}

void CouplingEvaluation::run(const EvaluationStage& stage) {
  if (failed_) {
    return;
  }
  advance(stage.iterated);
  for (const std::size_t k : stage.estimated) {
    estimators_->predict(k, attempt_.trial->inputs, attempt_.trial->outputs);
  }
}

/// What this evaluation has put out already takes the place of the unknown.
void CouplingEvaluation::take_over(const EvaluationStage& stage) {
  subsystems_.exchange(attempt_.trial->outputs, stage.fed, fed_);
  for (const std::size_t j : stage.known) {
    const std::size_t i = subsystems_.connected_inputs()[j];
    attempt_.trial->inputs[i] = fed_[i];
    hold(j);
  }
}

/// With the end values in trial.inputs; those that earlier stages feed are found there afterwards.
/// After a failure no rank goes on to the next stage.
void CouplingEvaluation::integrate() {
  restore();
  ++count_;
  run(stages_.all().front());
  for (std::size_t s = 1; s < stages_.all().size(); ++s) {
    failed_ = agree_on_largest(subsystems_.comm(), failed_ ? 1 : 0) != 0;
    if (failed_) {
      break;
    }
    take_over(stages_.all()[s]);
    run(stages_.all()[s]);
  }
  subsystems_.exchange(attempt_.trial->outputs, fed_);
}

void CouplingEvaluation::evaluate_each() {
  restore();
  ++count_;
  for (const auto& stage : stages_.all()) {
    run(stage);
    failed_ = false;
  }
  std::fill(evaluated_.begin(), evaluated_.end(), std::numeric_limits<double>::quiet_NaN());
}

void CouplingEvaluation::evaluate_alone(std::size_t k) {
  restore();
  advance(std::span(&k, 1));
  failed_ = false;
}

/// Whether no input of own subsystem k begins afresh.
bool CouplingEvaluation::joins_smoothly_at(std::size_t k) const {
  const auto& connected = subsystems_.connected_inputs();
  const IndexRange own = subsystems_.inputs_of(k);
  const auto first = std::lower_bound(connected.begin(), connected.end(), own.first);
  const auto last = std::lower_bound(first, connected.end(), own.last);
  const auto afresh = joins_.afresh();
  return std::none_of(afresh.begin() + (first - connected.begin()),
                      afresh.begin() + (last - connected.begin()),
                      [](char begins) { return begins != 0; });
}

void CouplingEvaluation::advance(std::span<const std::size_t> which) {
  const bool joined =
      hold_.joins_smoothly && !constraints_.any_indirect() && attempt_.point->last_step > 0.0;
  const auto run = [&](std::span<const std::size_t> some, bool smooth) {
    const Outcome outcome =
        subsystems_.advance(some, attempt_.step, attempt_.trial->polynomials,
                            smooth ? InputContinuity::smooth : InputContinuity::broken, wanted_,
                            attempt_.trial->outputs);
    failed_ = failed_ || outcome != Outcome::ok;
  };
  if (!joined || !joins_.any_layer()) {
    run(which, joined);
    return;
  }
  for (const std::size_t k : which) {
    run(std::span(&k, 1), joins_smoothly_at(k));
  }
}

void CouplingEvaluation::integrate_estimated() {
  for (const auto& stage : stages_.all()) {
    if (failed_) {
      break;
    }
    advance(stage.estimated);
  }
  subsystems_.exchange(attempt_.trial->outputs, fed_);
}

void CouplingEvaluation::write_residual(Vec f) const {
  unknowns_.write_residual(attempt_.trial->inputs, fed_, attempt_.trial->outputs, f);
  if (failed_ && unknowns_.count() > 0) {
    PetscScalar* r = nullptr;
    petsc(VecGetArray(f, &r));
    r[0] = std::numeric_limits<double>::quiet_NaN();
    petsc(VecRestoreArray(f, &r));
  }
}

}  // namespace concord
