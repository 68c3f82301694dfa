// The parts of ImplicitCoupling, each for itself, on one rank and on several.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/LU>

#include "unit/coupling/implicit_ring.hpp"

namespace concord::test {
namespace implicit_parts_test {

using Gains = ImplicitRing::Gains;

/// S of a value of size 2 with eps_rel = eps_abs = 1e-6: |u| + eps_abs/eps_rel * 2.
constexpr double scale = 4.0;

TEST(ImplicitUnknowns, AreInputsInUnitsOfTheirScales) {
  ImplicitRing ring({0.5, 0.5, 0.5});
  ring.set({1.0, -2.0, 3.0});
  const auto v = ring.gathered(ring.unknowns.vector());
  const double values[] = {1.0, -2.0, 3.0};
  for (std::size_t g = 0; g < 3; ++g) {
    EXPECT_DOUBLE_EQ(v[g], values[g] / scale);
    EXPECT_DOUBLE_EQ(v[3 + g], 10.0 * values[g] / (scale / ImplicitRing::h));
  }
}

TEST(ImplicitUnknowns, KeepWhatIsKnownOtherwise) {
  ImplicitRing ring({0.5, 0.5, 0.5});
  ring.set({1.0, 2.0, 3.0});
  std::vector<bool> known(ring.subsystems.connected_inputs().size());
  for (std::size_t j = 0; j < known.size(); ++j) {
    known[j] = ring.global(j) == 1;
  }
  std::vector<Sample> inputs(ring.subsystems.n_inputs(), Sample{7.0, 7.0});
  ring.unknowns.read(ring.unknowns.vector(), known, inputs);
  for (std::size_t k = 0; k < ring.subsystems.n_own(); ++k) {
    const double value = static_cast<double>(ring.global(k)) + 1.0;
    EXPECT_DOUBLE_EQ(inputs[k].value, known[k] ? 7.0 : value);
    EXPECT_DOUBLE_EQ(inputs[k].derivative, known[k] ? 7.0 : 10.0 * value);
  }
}

TEST(ImplicitUnknowns, SettleGuessedScales) {
  ImplicitRing ring({0.5, 0.5, 0.5});
  EXPECT_FALSE(ring.unknowns.guessed_scales());
  ring.set({20.0, 20.0, 20.0});
  ring.unknowns.settle_scales(ring.trial.inputs, ring.trial.inputs, ImplicitRing::h);
  for (std::size_t j = 0; j < ring.unknowns.count(); j += 2) {
    EXPECT_DOUBLE_EQ(ring.unknowns.scale()[j], 22.0);
  }
}

/// R_g = u_g - gain_{g-1} u_{g-1}.
TEST(ImplicitEvaluation, GivesTheResidual) {
  const Gains gains{0.5, -2.0, 3.0};
  ImplicitRing ring(gains);
  ring.set({1.0, 2.0, 4.0});
  ring.evaluation.evaluate(ring.unknowns.vector());
  ring.evaluation.write_residual(ring.unknowns.residual());
  const auto r = ring.gathered(ring.unknowns.residual());
  const Eigen::Vector3d expected = ImplicitRing::matrix(gains) * Eigen::Vector3d(1.0, 2.0, 4.0);
  for (std::size_t g = 0; g < 3; ++g) {
    EXPECT_NEAR(r[g] * scale, expected[static_cast<Eigen::Index>(g)], 1e-12);
    EXPECT_NEAR(r[3 + g] * scale / ImplicitRing::h, 10.0 * expected[static_cast<Eigen::Index>(g)],
                1e-8);
  }
  EXPECT_EQ(ring.evaluation.count(), 1);
  EXPECT_FALSE(ring.evaluation.failed());
  EXPECT_TRUE(ring.evaluation.was_at(ring.unknowns.vector()));
}

TEST(ImplicitEvaluation, FailsBeforeAnySubsystemSeesWhatIsNotFinite) {
  ImplicitRing ring({0.5, 0.5, 0.5});
  ring.set({1.0, std::nan(""), 1.0});
  ring.evaluation.evaluate(ring.unknowns.vector());
  const CouplingResidual& residual = ring.convergence.measure_guess();
  EXPECT_TRUE(residual.failed);
  EXPECT_TRUE(std::isinf(residual.ratio));
  PetscReal norm = 0.0;
  petsc(VecNorm(ring.unknowns.residual(), NORM_2, &norm));
  EXPECT_TRUE(std::isnan(norm));
}

/// Gauss-Seidel: s1 and s2 take what s0 and s1 have just put out.
TEST(ImplicitEvaluation, RunsStageByStage) {
  const Gains gains{0.5, -2.0, 3.0};
  ImplicitRing ring(gains, {{0, 1, 2}});
  ring.set({1.0, 100.0, 100.0});
  ring.evaluation.evaluate(ring.unknowns.vector());
  EXPECT_TRUE(ring.evaluation.runs_in_stages());
  const double inputs[] = {1.0, 0.5, -1.0};
  const double fed[] = {-3.0, 0.5, -1.0};
  for (std::size_t k = 0; k < ring.subsystems.n_own(); ++k) {
    EXPECT_NEAR(ring.trial.inputs[k].value, inputs[ring.global(k)], 1e-12);
    EXPECT_NEAR(ring.evaluation.fed()[k].value, fed[ring.global(k)], 1e-12);
  }
}

/// By differences, against J = I - P D.
TEST(ImplicitJacobian, SolvesForTheErrorOfTheUnknowns) {
  const Gains gains{0.5, -2.0, 3.0};
  ImplicitRing ring(gains);
  EXPECT_FALSE(ring.jacobian.known());
  ring.set({1.0, 2.0, 4.0});
  ring.evaluation.evaluate(ring.unknowns.vector());
  ring.evaluation.write_residual(ring.unknowns.residual());
  ASSERT_TRUE(ring.jacobian.update(ring.unknowns.vector()));
  EXPECT_TRUE(ring.jacobian.is_differenced());
  EXPECT_FALSE(ring.evaluation.was_at(ring.unknowns.vector()));
  EXPECT_EQ(ring.evaluation.count(), 3);  // and one per column of a subsystem

  Vec e = ring.jacobian.error(ring.unknowns.residual());
  ASSERT_NE(e, nullptr);
  const auto error = ring.gathered(e);  // of a linear problem whose solution is 0: U itself
  const double values[] = {1.0, 2.0, 4.0};
  for (std::size_t g = 0; g < 3; ++g) {
    EXPECT_NEAR(error[g] * scale, values[g], 1e-4);
    EXPECT_NEAR(error[3 + g] * scale / ImplicitRing::h, 10.0 * values[g], 1e-3);
  }
}

/// MISSILES and the Jacobian of R are the same map with K of their own: here the Jacobian's is that
/// of differences, which know only some digits. One matrix serves both.
TEST(ImplicitJacobian, SharesItsMatrixWithTheEstimators) {
  const Gains gains{0.5, -2.0, 3.0};
  ImplicitRing ring(gains);
  ring.subsystems.restore();
  const auto state = ring.estimators.prepare(ring.attempt.step, ring.point);
  ASSERT_TRUE(ring.missiles.solve(state, ring.attempt.step, ring.point, ring.trial.inputs));
  const std::vector<Sample> predicted = ring.trial.inputs;

  ring.jacobian.take_estimated();
  EXPECT_TRUE(ring.jacobian.known());
  EXPECT_FALSE(ring.jacobian.is_differenced());
  EXPECT_EQ(ring.jacobian.matrix(), ring.missiles.interface().matrix());
  const std::int64_t estimated = ring.missiles.interface().contents();
  ring.unknowns.write(ring.trial.inputs);
  ring.evaluation.evaluate(ring.unknowns.vector());
  ring.evaluation.write_residual(ring.unknowns.residual());
  ASSERT_NE(ring.jacobian.error(ring.unknowns.residual()), nullptr);
  ASSERT_TRUE(ring.missiles.solve_again(ring.point, ring.trial.inputs));
  EXPECT_EQ(ring.missiles.interface().contents(), estimated);

  ring.jacobian.forget();
  ring.set({1.0, 2.0, 4.0});
  ring.evaluation.evaluate(ring.unknowns.vector());
  ASSERT_TRUE(ring.jacobian.update(ring.unknowns.vector()));
  EXPECT_TRUE(ring.jacobian.is_differenced());
  EXPECT_TRUE(ring.jacobian.known());
  EXPECT_NE(ring.missiles.interface().contents(), estimated);

  ASSERT_TRUE(ring.missiles.solve_again(ring.point, ring.trial.inputs));
  EXPECT_FALSE(ring.jacobian.known());
  for (std::size_t k = 0; k < ring.subsystems.n_own(); ++k) {
    EXPECT_EQ(ring.trial.inputs[k].value, predicted[k].value);
    EXPECT_EQ(ring.trial.inputs[k].derivative, predicted[k].derivative);
  }
}

/// e = J^-1 R with the K of estimators, whose ring is linear: the same as by differences.
TEST(ImplicitJacobian, OfTheEstimatorsSolvesForTheError) {
  ImplicitRing ring({0.5, -2.0, 3.0});
  const auto state = ring.estimators.prepare(ring.attempt.step, ring.point);
  ASSERT_TRUE(ring.missiles.solve(state, ring.attempt.step, ring.point, ring.trial.inputs));
  ring.jacobian.take_estimated();
  ring.set({1.0, 2.0, 4.0});
  ring.evaluation.evaluate(ring.unknowns.vector());
  ring.evaluation.write_residual(ring.unknowns.residual());
  Vec e = ring.jacobian.error(ring.unknowns.residual());
  ASSERT_NE(e, nullptr);
  VecHandle unscaled;
  petsc(VecDuplicate(e, unscaled.out()));
  petsc(VecPointwiseMult(unscaled, e, ring.unknowns.scale_vector()));
  const auto error = ring.gathered(unscaled);
  const double values[] = {1.0, 2.0, 4.0};
  for (std::size_t g = 0; g < 3; ++g) {
    EXPECT_NEAR(error[g], values[g], 1e-10);
    EXPECT_NEAR(error[3 + g], 10.0 * values[g], 1e-9);
  }
}

TEST(ImplicitJacobian, BoundsItsInverse) {
  const Gains gains{0.5, 0.4, 0.3};
  ImplicitRing ring(gains);
  ring.set({1.0, 2.0, 4.0});
  ring.evaluation.evaluate(ring.unknowns.vector());
  ASSERT_TRUE(ring.jacobian.update(ring.unknowns.vector()));
  const double exact = ImplicitRing::matrix(gains).inverse().cwiseAbs().rowwise().sum().maxCoeff();
  EXPECT_GE(ring.jacobian.bound(), exact * (1.0 - 1e-6));
  EXPECT_LT(ring.jacobian.bound(), 3.0 * exact);
}

TEST(ImplicitJacobian, IsKeptWhileItFits) {
  ImplicitRing ring({0.5, 0.4, 0.3});
  EXPECT_TRUE(ring.jacobian.outgrown());
  ring.set({1.0, 2.0, 4.0});
  ring.evaluation.evaluate(ring.unknowns.vector());
  ASSERT_TRUE(ring.jacobian.update(ring.unknowns.vector()));
  ring.jacobian.begin();
  EXPECT_FALSE(ring.jacobian.outgrown());
  EXPECT_FALSE(ring.jacobian.is_new());
  ring.attempt.step = {0.0, 2.0, 2.0};
  EXPECT_TRUE(ring.jacobian.outgrown());
  ring.attempt.step = {0.0, ImplicitRing::h, ImplicitRing::h};
  ring.jacobian.is_useless(true);
  EXPECT_TRUE(ring.jacobian.outgrown());
}

/// A residual a tenth of the tolerance: converged where the loop doesn't amplify it, not where its
/// error is 1 / (1 - 0.99) as large.
TEST(ImplicitConvergence, AsksForTheErrorOfTheUnknowns) {
  for (const double gain : {0.1, 0.997}) {
    ImplicitRing ring({gain, gain, gain});
    ring.jacobian.serve_solver(true);
    ring.set({1.0, 1.0, 1.0});
    ring.evaluation.evaluate(ring.unknowns.vector());
    ASSERT_TRUE(ring.jacobian.update(ring.unknowns.vector()));
    const double u = 0.1 * 2e-6 / (1.0 - gain);
    ring.set({u, u, u});
    for (std::size_t k = 0; k < ring.subsystems.n_own(); ++k) {
      ring.trial.inputs[k].derivative = 0.0;
    }
    ring.unknowns.write(ring.trial.inputs);
    ring.evaluation.evaluate(ring.unknowns.vector());
    EXPECT_NEAR(ring.convergence.measure_guess().ratio, 0.1, 0.01);
    EXPECT_EQ(ring.convergence.judge_guess(), gain < 0.5) << gain;
  }
}

TEST(ImplicitConvergence, NeedsAnIterationWhereNothingTells) {
  ImplicitRing ring({0.1, 0.1, 0.1});
  ring.set({1e-9, 1e-9, 1e-9});
  ring.evaluation.evaluate(ring.unknowns.vector());
  EXPECT_LT(ring.convergence.measure_guess().ratio, 1.0);
  EXPECT_FALSE(ring.convergence.judge_guess());
}

Method fixed_point() {
  Method method;
  method.predictor = Predictor::extrapolate;
  return method;
}

TEST(ImplicitGuess, BeginsWhereThePastLeads) {
  const Method method = fixed_point();
  ImplicitRing ring({0.5, 0.5, 0.5});
  for (auto& polynomial : ring.point.polynomials) {
    polynomial.c = {1.0, 2.0, 0.0, 0.0};
  }
  ring.point.last_step = 0.5;
  FirstGuess guess(method, ring.subsystems, ring.joins, nullptr, nullptr, ring.unknowns,
                   ring.evaluation, ring.jacobian, ring.convergence, ring.attempt);
  guess.start(ring.point);
  ASSERT_TRUE(guess.begin());
  ASSERT_TRUE(guess.find(false));
  for (std::size_t k = 0; k < ring.subsystems.n_own(); ++k) {
    EXPECT_NEAR(ring.trial.inputs[k].value, 3.0, 1e-12);
    EXPECT_NEAR(ring.trial.inputs[k].derivative, 2.0, 1e-12);
  }
  EXPECT_EQ(guess.describe(), "");
}

/// One that cannot be evaluated, here on one rank only, gives way on all.
TEST(ImplicitGuess, GivesWayWhereItFails) {
  const Method method = fixed_point();
  ImplicitRing ring({0.5, 0.5, 0.5});
  for (std::size_t k = 0; k < ring.subsystems.n_own(); ++k) {
    ring.point.polynomials[k].c = {ring.global(k) == 2 ? std::nan("") : 1.0, 0.0, 0.0, 0.0};
  }
  ring.point.last_step = 0.5;
  FirstGuess guess(method, ring.subsystems, ring.joins, nullptr, nullptr, ring.unknowns,
                   ring.evaluation, ring.jacobian, ring.convergence, ring.attempt);
  guess.start(ring.point);
  ASSERT_TRUE(guess.begin());
  ASSERT_TRUE(guess.find(false));
  for (std::size_t k = 0; k < ring.subsystems.n_own(); ++k) {
    EXPECT_DOUBLE_EQ(ring.trial.inputs[k].value, ImplicitRing::begin);
  }
  EXPECT_NE(guess.describe().find("the continued inputs (cannot be evaluated)"), std::string::npos)
      << guess.describe();
}

/// Own entries of a vector of one entry per rank.
TEST(ImplicitProgress, StopsWhereIteratesWanderAboutOnePoint) {
  IterationProgress progress(PETSC_COMM_WORLD, 1);
  const double zero[] = {0.0};
  progress.begin(1.0, zero, zero);
  int stopped_at = 0;
  for (int it = 1; it <= 10 && stopped_at == 0; ++it) {
    const double v[] = {it % 2 == 0 ? 1.0 : -1.0};
    stopped_at = progress.has_stopped(it, 1.0, false, v) ? it : 0;
    progress.remember(v, zero);
  }
  EXPECT_EQ(stopped_at, 4);
}

TEST(ImplicitProgress, GoesOnWhereSlowContractionWalks) {
  IterationProgress progress(PETSC_COMM_WORLD, 1);
  const double zero[] = {0.0};
  progress.begin(1.0, zero, zero);
  for (int it = 1; it <= 20; ++it) {
    const double v[] = {static_cast<double>(it)};
    EXPECT_FALSE(progress.has_stopped(it, 1.0, false, v)) << it;
    progress.remember(v, zero);
  }
}

TEST(ImplicitProgress, StopsWithAFreshJacobian) {
  IterationProgress progress(PETSC_COMM_WORLD, 1);
  const double zero[] = {0.0};
  progress.begin(1.0, zero, zero);
  for (int it = 1; it <= 4; ++it) {
    const double v[] = {static_cast<double>(it)};
    EXPECT_EQ(progress.has_stopped(it, 0.8, true, v), it == 4);
    progress.remember(v, zero);
  }
}

}  // namespace implicit_parts_test
}  // namespace concord::test
