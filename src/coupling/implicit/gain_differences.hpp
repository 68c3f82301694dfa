#pragma once

#include <vector>

#include "coupling/estimation/missiles_system.hpp"
#include "coupling/implicit/coupling_evaluation.hpp"

namespace concord {

/// The gains K of all subsystems by coloured differences. K is block diagonal, subsystems answer to
/// their own inputs only, so that a difference of all of them at once takes 2 max_k n_in,k
/// evaluations.
class GainDifferences {
 public:
  /// `gains`: where they go.
  GainDifferences(RankNetwork& subsystems, const ConstraintRows& constraints,
                  const CouplingUnknowns& unknowns, CouplingEvaluation& evaluation,
                  const StepAttempt& attempt, SubsystemGains& gains);

  /// At the trial that was evaluated last; false where some gain cannot be had. Collective.
  bool find();

  /// Evaluations that it takes: columns of the widest subsystem on any rank.
  PetscInt columns() const { return widest_; }

 private:
  double increment(std::size_t k, std::size_t column) const;
  void move_column(std::size_t column);
  bool take_column(std::size_t k, std::size_t column);
  void correct_by_equation(std::size_t k, std::size_t column);
  bool difference_again(std::size_t k, std::size_t column);

  RankNetwork& subsystems_;
  const ConstraintRows& constraints_;
  const CouplingUnknowns& unknowns_;
  CouplingEvaluation& evaluation_;
  const StepAttempt& attempt_;
  SubsystemGains& gains_;
  PetscInt widest_;
  std::vector<Sample> base_inputs_, base_outputs_;  ///< the point of differencing
};

}  // namespace concord
