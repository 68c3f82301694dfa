#pragma once

#include <optional>

#include "coupling/estimation/missiles_system.hpp"
#include "coupling/implicit/gain_differences.hpp"
#include "coupling/problem/amplification.hpp"
#include "coupling/problem/input_operator.hpp"

namespace concord {

/// The Jacobian of the coupling residual, T^-1 (I - P K) S: by differences of the subsystems
/// (GainDifferences), or the estimators'; kept over macro-steps while it serves. One matrix, and
/// one factorisation, serves MISSILES and it.
///
/// R alone doesn't tell how far U is from its solution, e = J^-1 R does: a loop whose gain is near
/// 1 amplifies R, and a position constraint answers to its unknown by h^2, so that it can be met to
/// its tolerance by an unknown that is off by the tolerance over h^2.
///
/// Under a schedule that replaces some entries of U (CouplingEvaluation), zeros there on the right
/// side let J^-1 give the other entries of a Newton step of what is left, a Schur complement of J:
/// the Jacobian needs no schedule.
class CouplingJacobian {
 public:
  /// `estimated`: the system whose K may be taken; may be null.
  CouplingJacobian(RankNetwork& subsystems, const ConstraintRows& constraints, const Joins& joins,
                   MissilesSystem* estimated, CouplingUnknowns& unknowns,
                   CouplingEvaluation& evaluation, const StepAttempt& attempt);

  Mat matrix() const { return operator_.matrix(); }
  Diagonal diagonal() const { return diagonal_of(subsystems_); }

  /// Whether the solver works with the matrix.
  void serve_solver(bool serves) { serves_ = serves; }
  bool serves_solver() const { return serves_; }

  /// A new attempt: what is kept is of an earlier macro-step.
  void begin();

  /// The estimators' K and their scales.
  void take_estimated();

  /// Whether what is kept, if anything, no longer fits the attempt. Collective.
  bool outgrown() const;

  /// Nothing is kept; the scales are those of now.
  void drop();
  /// Nothing is kept, in the scales that are.
  void forget() { kept_.h = 0.0; }
  void forget_estimated();

  /// For a Newton iteration at v: keeps what serves, else differences; false where that fails.
  /// Collective.
  bool update(Vec v);

  /// The scales of the evaluated point, where some inputs have been 0 until now.
  void settle_scales();

  /// Whether there is one; made for this macro-step; and not by estimators.
  bool known() const { return kept_.h != 0.0 && kept_.contents == operator_.contents(); }
  bool is_new() const { return kept_.is_new; }
  bool is_differenced() const { return kept_.is_new && !kept_.is_estimated; }
  /// K, if it was differenced for this macro-step.
  const SubsystemGains* differenced() const { return is_differenced() ? &gains_ : nullptr; }
  /// It is too old for what the convergence test asks.
  void is_useless(bool useless) { kept_.is_useless = useless; }

  /// Residual over the one before, by the last Newton iteration with it; 0: not known.
  double contraction() const { return kept_.contraction; }
  void contracts(double ratio) { kept_.contraction = ratio; }

  /// An upper bound of |J^-1|. Collective where it isn't known yet.
  double bound();

  /// J^-1 R, or null where J is singular. Collective.
  Vec error(Vec residual);

  /// What is kept: of the matrix what it is assembled from. After the scales and the estimators'
  /// system, which `changed` tells of. Collective.
  void io(Archive& archive, bool changed);

 private:
  /// The matrix as it is, all that is remembered of it from one macro-step to the next.
  struct Kept {
    double h = 0.0;             ///< macro-step of its making; 0: none
    std::int64_t contents = 0;  ///< of the matrix
    bool is_of_layer = false;   ///< made where inputs began afresh in a layer
    bool is_new = false;
    bool is_estimated = false;
    bool is_useless = false;
    PetscInt age = 0;  ///< Newton iterations with it in this attempt
    double contraction = 0.0;
    double bound = 0.0;  ///< |J^-1|; 0: not known
  };

  const SubsystemGains& gains() const { return kept_.is_estimated ? estimated_->gains() : gains_; }
  bool is_stale() const;
  bool renew(Vec v);

  RankNetwork& subsystems_;
  const Joins& joins_;
  CouplingUnknowns& unknowns_;
  CouplingEvaluation& evaluation_;
  const StepAttempt& attempt_;
  SubsystemGains gains_;
  MissilesSystem* estimated_;
  std::optional<InputOperator> own_;  ///< where there is nobody to share with
  InputOperator& operator_;
  VecHandle error_;
  Amplification amplification_;
  GainDifferences differences_;
  bool serves_ = false;
  Kept kept_;
};

}  // namespace concord
