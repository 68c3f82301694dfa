#pragma once

#include <vector>

#include "coupling/estimation/estimators.hpp"
#include "coupling/problem/coupling_scales.hpp"
#include "coupling/problem/input_operator.hpp"
#include "support/petsc.hpp"

namespace concord {

/// MISSILES: the predictions of all estimators coupled as one sparse linear system (Eguillon et al.
/// 2022, eq. (50), here for the inputs): (I - P K) U = P b with U = (u, u', ...)_{N+1}, b the
/// estimators' free responses. Where f or g is curved, b is that of their values where U leads
/// (Estimators::correct), and the system is solved again with the same factors, until U stands.
///
/// A KSP with options prefix `missiles_`; matrix and factors are kept while no K changes and the
/// scales of columns and rows (CouplingScales) fit. Its members are that one system: what it is
/// made of, its vectors, and what is known of its last solve.
class MissilesSystem {
 public:
  /// `hold`: of the inputs, as the estimators know them.
  MissilesSystem(RankNetwork& subsystems, Estimators& estimators, const Hold& hold,
                 const Tolerance& tolerance);

  /// Inputs at step.end by prediction alone, into `inputs` (connected ones), after
  /// Estimators::prepare gave `state` on this rank. False where a subsystem could not be
  /// linearised, a gain or a free response is not finite, or the linear solve failed. Collective.
  bool solve(Estimators::State state, const MacroStep& step, const CommunicationPoint& point,
             std::span<Sample> inputs);

  /// The same once more with the estimators' free responses as they are now. Collective.
  bool solve_again(const CommunicationPoint& point, std::span<Sample> inputs);

  /// Whether, as far as this rank sees, `solve` would do no more than `solve_again`: finite free
  /// responses of tangents that need no correction, and a matrix that serves.
  bool serves(Estimators::State state, const CommunicationPoint& point) const;

  /// Whether the last `solve` did more than `solve_again`.
  bool did_more() const { return did_more_; }

  /// T^-1 (I - P K) S, with the scales and the K it was assembled with. Who changes it, as the
  /// Jacobian of the coupling residual is it with another K, need not put it back.
  InputOperator& interface() { return operator_; }
  const CouplingScales& scales() const { return scales_; }
  const SubsystemGains& gains() const { return gains_; }

  /// The accepted communication point.
  void commit(const CommunicationPoint& point) { scales_.see(point); }

  /// Of the matrix what it is assembled from. Collective.
  void io(Archive& archive);
  int memory_version() const { return 2; }

  PetscInt linear_iterations() const { return linear_iterations_; }
  void view() const { operator_.view(); }

 private:
  Estimators::State take_gains(Estimators::State state, const CommunicationPoint& point);
  bool solve_linear(const CommunicationPoint& point, std::span<Sample> inputs);
  void follow_curves(const CommunicationPoint& point, std::span<Sample> inputs);
  double change_since(std::span<const Sample> before, std::span<const Sample> now) const;
  void assemble();
  void take_scales();
  void assemble_afresh(const CommunicationPoint& point, double h);
  void write_right_side(const CommunicationPoint& point);
  void read_solution(const CommunicationPoint& point, std::span<Sample> inputs) const;

  RankNetwork& subsystems_;
  Estimators& estimators_;
  std::size_t parts_;  ///< of an input's end
  ConstraintRows constraints_;
  CouplingScales scales_;
  SubsystemGains gains_;
  InputOperator operator_;
  VecHandle scale_, residual_scale_, right_side_, unknown_;
  std::vector<Sample> fed_;
  bool gains_taken_ = false;              ///< on this rank
  std::vector<Sample> tangent_, before_;  ///< inputs by the tangents, and those of one solve ago
  bool assembled_ = false;
  std::int64_t contents_ = 0;  ///< of the matrix, as assembled
  bool did_more_ = true;
  PetscInt linear_iterations_ = 0;
};

}  // namespace concord
