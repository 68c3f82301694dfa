#pragma once

#include <string>
#include <vector>

#include "coupling/method.hpp"
#include "coupling/points/consistent_inputs.hpp"
#include "coupling/problem/carried_constraints.hpp"

namespace concord {

/// Unknowns of direct constraints at the end of an explicit macro-step, which was integrated with
/// the extrapolated unknown lambda0 (Arnold 2012, coupling by constraints).
///
/// With s_i = d gamma/d y_i d y_i/d lambda, what carrier i does to the constraint (G_i M_i^-1 G_i^T
/// in Arnold's mechanical systems), an error of lambda0 is multiplied each macro-step by
///
/// - projection: 0. All outputs are evaluated with the new unknown: sum_i s_i (lambda - lambda0) =
///   -gamma(lambda0).
/// - staggered: -alpha, alpha = (s_1 + ... + s_{l-1})/s_l in the order of the model file. The
///   outputs of all carriers but the last stay as lambda0 gave them. Unstable where alpha is 1 or
///   more in size, however small the macro-step.
/// - overlapping: 0, to first order. Each carrier i solves the constraint for a copy lambda_i of
///   its own, with the others' outputs for lambda0: s_i (lambda_i - lambda0) = -gamma(lambda0). The
///   copies are combined as lambda0 + sum_i a_i (lambda_i - lambda0), which multiplies an error by
///   alpha = 1 - sum_i a_i (sum_j s_j)/s_i; the weights a_i = s_i/(l sum_j s_j) make that 0.
///   (Weights that sum up to 1 cannot: with two equal carriers they all have alpha = -1.)
class DirectConstraints {
 public:
  /// Throws InputError where `overlapping` has no weights: carriers that share another constraint
  /// or answer to each other directly.
  DirectConstraints(RankNetwork& subsystems, ConsistentInputs& consistent, Constraints treatment);

  /// In: outputs and inputs for the held unknowns. Out: for the new ones, which `overlapping` gives
  /// no slopes. Collective.
  Outcome solve(Wanted wanted, std::span<Sample> inputs, std::span<Sample> outputs);

  /// The carriers' shares s_i/sum_j s_j of each constraint and alpha, a line each, where the
  /// subsystems stand. Collective.
  std::string describe(std::span<const Sample> inputs, std::span<const Sample> outputs);

 private:
  struct Constraint {
    CarriedConstraint carried;
    std::optional<std::size_t> own;  ///< on its own rank
    double held = 0.0;               ///< lambda0; on its own rank, like what follows
    double residual = 0.0;           ///< gamma for lambda0
    std::vector<double> gains;       ///< s_i
    std::vector<double> changes;     ///< lambda_i - lambda0
  };
  using Mask = std::vector<bool>;
  class Evaluation;

  Outcome overlap(std::span<Sample> inputs, std::span<Sample> outputs);
  Outcome find_gains(std::span<const Sample> inputs, std::span<const Sample> outputs);
  Outcome solve_copies(std::span<const Sample> inputs, std::span<const Sample> outputs);
  Outcome evaluate_copy(Evaluation& evaluation, std::span<const Sample> inputs,
                        std::span<const Sample> outputs);
  double& output(std::vector<Sample>& outputs, const Constraint& constraint, std::size_t which);
  void begin_at_held(std::span<Sample> inputs, std::span<const Sample> outputs) const;
  void hold_unknowns(std::span<const Sample> outputs);
  void refuse_entangled() const;

  RankNetwork& subsystems_;
  ConsistentInputs& consistent_;
  Constraints treatment_;
  std::vector<Constraint> constraints_;
  Mask everyone_, constraints_alone_;
  std::vector<Mask> with_carrier_;        ///< the constraints and the i-th carrier of each
  Mask with_last_;                        ///< the constraints and the last carrier of each
  std::vector<double> fixed_;             ///< unknowns, per own subsystem
  std::vector<Sample> inputs_, outputs_;  ///< of a copy
};

}  // namespace concord
