#pragma once

#include <span>
#include <vector>

#include "coupling/estimation/estimators.hpp"
#include "coupling/implicit/coupling_unknowns.hpp"
#include "coupling/implicit/evaluation_stages.hpp"
#include "coupling/problem/joins.hpp"
#include "coupling/problem/step_attempt.hpp"
#include "signal/hold.hpp"

namespace concord {

/// One evaluation of the coupling function: the subsystems, from t_N over the macro-step with the
/// inputs that end in U, put out y(U), y'(U) and, where U has curvatures, y''(U). Those without
/// rollback take part as their estimators, and are integrated once, with the accepted inputs.
///
/// In a schedule with sequences, one evaluation runs stage by stage: what earlier members of a
/// group have put out in it takes the place of U for the members after them (Gauss-Seidel waveform
/// iteration). Those entries of U then have no influence and residual 0.
class CouplingEvaluation {
 public:
  /// `estimators`: null where none is there; then nothing is estimated in `stages`.
  CouplingEvaluation(const Hold& hold, Wanted wanted, RankNetwork& subsystems,
                     const ConstraintRows& constraints, const Joins& joins,
                     const EvaluationStages& stages, Estimators* estimators,
                     const CouplingUnknowns& unknowns, const StepAttempt& attempt);

  /// A new attempt: the subsystems stand at its beginning.
  void begin();

  /// At v, into trial.inputs, trial.outputs and `fed`. Collective.
  void evaluate(Vec v);

  /// R / T of the last evaluation. Where it failed, something is not a number, which every rank
  /// sees in the norm.
  void write_residual(Vec f) const;

  /// The subsystems without rollback, once, with the accepted inputs. Collective.
  void integrate_estimated();

  /// For differences: every subsystem for itself with the end values in trial.inputs, whatever the
  /// schedule; failures are seen in its outputs alone. The last evaluation is no longer that of
  /// any v.
  void evaluate_each();
  /// The same for one own subsystem; counts as no evaluation.
  void evaluate_alone(std::size_t k);

  /// v to trial.inputs, without an evaluation.
  void read(Vec v);

  /// The last evaluation was that of v, in scales that have changed since.
  void evaluated_at(Vec v);

  /// Whether, on this rank, the last evaluation was that of v.
  bool was_at(Vec v) const;

  std::span<const Sample> fed() const { return fed_; }  ///< P y of the last evaluation
  bool failed() const { return failed_; }               ///< the last evaluation, on this rank
  std::int32_t count() const { return count_; }         ///< of this attempt
  Wanted wanted() const { return wanted_; }
  bool runs_in_stages() const { return stages_.all().size() > 1; }
  /// P y, which outlives the attempt.
  void io(Archive& archive) { CONCORD_MEMBERS_PER(archive, Per::input, fed_); }
  bool some_estimated() const { return stages_.some_estimated(); }

 private:
  void integrate();
  void restore();
  void hold(std::size_t j);
  void run(const EvaluationStage& stage);
  void take_over(const EvaluationStage& stage);
  void advance(std::span<const std::size_t> which);
  bool joins_smoothly_at(std::size_t k) const;

  RankNetwork& subsystems_;
  const ConstraintRows& constraints_;
  const Joins& joins_;
  const EvaluationStages& stages_;
  Estimators* estimators_;
  const CouplingUnknowns& unknowns_;
  const StepAttempt& attempt_;
  Hold hold_;
  Wanted wanted_;
  std::vector<Sample> fed_;
  std::vector<double> evaluated_;  ///< own entries of v of the last evaluation
  bool moved_ = false;             ///< the subsystems are no longer at the beginning
  bool failed_ = false;
  std::int32_t count_ = 0;
};

}  // namespace concord
