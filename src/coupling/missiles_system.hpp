#pragma once

#include <vector>

#include "coupling/coupling.hpp"
#include "coupling/estimator.hpp"
#include "coupling/input_operator.hpp"
#include "coupling/subsystem_gains.hpp"
#include "support/petsc.hpp"

namespace concord {

/// MISSILES: the estimators of all subsystems and the coupling of their predictions as one sparse
/// linear system (Eguillon et al. 2022, eq. (50), here for the inputs):
/// (I - P K) U = P b with U = (u, u')_{N+1}, b the estimators' free responses.
///
/// A KSP with options prefix `missiles_`; matrix and factors are kept while no K changes.
class MissilesSystem {
 public:
  MissilesSystem(RankNetwork& subsystems, const EstimatorSettings& settings);

  /// Inputs at step.end by prediction alone, into `inputs` (connected ones). False where a
  /// subsystem could not be linearised or the linear solve failed. Collective.
  bool solve(const MacroStep& step, const CommunicationPoint& point, std::span<Sample> inputs);

  /// Outputs that the estimators predict for the inputs `end`.
  void predict(std::span<const Sample> end, std::span<Sample> outputs) const;
  void predict(std::size_t k, std::span<const Sample> end, std::span<Sample> outputs) const;

  /// The macro-step was accepted with these inputs and real outputs.
  void observe(const CommunicationPoint& point);
  void forget();

  /// S^-1 (I - P K) S; own entries of S.
  Mat matrix() const { return operator_.matrix(); }
  std::span<const double> scale() const { return scale_values_; }
  PetscInt linear_iterations() const { return linear_iterations_; }
  void view() const;

 private:
  bool prepare(const MacroStep& step, const CommunicationPoint& point);
  void assemble(const CommunicationPoint& point, double h);

  RankNetwork& subsystems_;
  SubsystemGains gains_;
  std::vector<Estimator> estimators_;
  InputOperator operator_;
  KspHandle ksp_;
  VecHandle scale_, right_side_, unknown_;
  std::vector<double> scale_values_;
  std::vector<Sample> free_outputs_, fed_;
  bool assembled_ = false;
  bool failed_ = false;
  PetscInt linear_iterations_ = 0;
};

}  // namespace concord
