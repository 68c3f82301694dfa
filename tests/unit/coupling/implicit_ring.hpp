#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>

#include "coupling/implicit/coupling_convergence.hpp"
#include "coupling/implicit/first_guess.hpp"
#include "unit/coupling/mock_network.hpp"

namespace concord::test {

/// A ring of three subsystems over all ranks: the input of each is fed by the one before,
/// y_g = gain_g u_g without memory, so that P y(U) = (gain_2 u_2, gain_0 u_0, gain_1 u_1), the same
/// with slopes. The parts of an implicit coupling on it, in a macro-step that begins with all
/// inputs at `begin`.
class ImplicitRing {
 public:
  static constexpr double h = 0.5;
  static constexpr double begin = 2.0;
  using Gains = std::array<double, 3>;

  explicit ImplicitRing(const Gains& gains, const Groups& groups = {})
      : network_({part(0, gains), part(1, gains), part(2, gains)},
                 {{"s2.y0", "s0.u0"}, {"s0.y0", "s1.u0"}, {"s1.y0", "s2.u0"}}, PETSC_COMM_WORLD),
        subsystems(network_.subsystems()),
        constraints(subsystems),
        joins(subsystems, constraints, Hold::hermite),
        stages(subsystems, groups),
        point(network_.start(h)),
        estimators(subsystems, EstimatorSettings{}, Hold::hermite),
        missiles(subsystems, estimators, Hold::hermite, Tolerance{}),
        unknowns(subsystems, constraints, Tolerance{}, 2),
        evaluation(Hold::hermite, Wanted::values_and_derivatives, subsystems, constraints, joins,
                   stages, nullptr, unknowns, attempt),
        jacobian(subsystems, constraints, joins, &missiles, unknowns, evaluation, attempt),
        convergence(subsystems, constraints, Tolerance{}, 1e-5, nullptr, unknowns, evaluation,
                    jacobian, attempt) {
    for (const std::size_t i : subsystems.connected_inputs()) {
      point.inputs[i] = {begin, 0.0};
    }
    subsystems.see(point.inputs, point.outputs, h);
    trial.inputs = point.inputs;
    trial.outputs = point.outputs;
    trial.polynomials.resize(subsystems.n_inputs());
    subsystems.save();
    attempt = {{0.0, h, h}, &point, &trial};
    evaluation.begin();
    jacobian.begin();
    convergence.begin();
    jacobian.drop();
  }

  /// Subsystem of own connected input j, in the whole network.
  std::size_t global(std::size_t j) const { return subsystems.global(j); }

  /// Sets every input to the entry of its subsystem, with a slope that is ten times it.
  void set(const Gains& values) {
    for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
      trial.inputs[k] = {values[global(k)], 10.0 * values[global(k)]};
    }
    unknowns.write(trial.inputs);
  }

  /// J without scales.
  static Eigen::Matrix3d matrix(const Gains& gains) {
    Eigen::Matrix3d result = Eigen::Matrix3d::Identity();
    for (Eigen::Index g = 0; g < 3; ++g) {
      result((g + 1) % 3, g) = -gains[static_cast<std::size_t>(g)];
    }
    return result;
  }

  /// All entries of a distributed vector at the places of their subsystems: values, then slopes.
  std::array<double, 6> gathered(Vec vector) const {
    std::array<double, 6> result{};
    const PetscScalar* v = nullptr;
    petsc(VecGetArrayRead(vector, &v));
    for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
      result[global(k)] = v[2 * k];
      result[3 + global(k)] = v[2 * k + 1];
    }
    petsc(VecRestoreArrayRead(vector, &v));
    MPI_Allreduce(MPI_IN_PLACE, result.data(), 6, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
    return result;
  }

 private:
  static LinearPart part(int g, const Gains& gains) {
    const auto scalar = [](double value) { return Eigen::MatrixXd::Constant(1, 1, value); };
    return {"s" + std::to_string(g), scalar(-1.0), scalar(0.0), scalar(0.0),
            scalar(gains[static_cast<std::size_t>(g)])};
  }

  MockNetwork network_;

 public:
  RankNetwork& subsystems;
  ConstraintRows constraints;
  Joins joins;
  EvaluationStages stages;
  CommunicationPoint point;
  Trial trial;
  StepAttempt attempt;
  Estimators estimators;
  MissilesSystem missiles;
  CouplingUnknowns unknowns;
  CouplingEvaluation evaluation;
  CouplingJacobian jacobian;
  CouplingConvergence convergence;
};

}  // namespace concord::test
