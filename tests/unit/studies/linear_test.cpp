#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "concord/errors.hpp"
#include "studies/balanced_truncation.hpp"
#include "studies/transfer.hpp"
#include "support/factorizations.hpp"

namespace concord {
namespace {

using Complex = std::complex<double>;

StateSpace state_space(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                       const Eigen::RowVectorXd& c, double d = 0.0) {
  return {a, b, c, Eigen::MatrixXd::Constant(1, 1, d)};
}

/// A well-conditioned change of states.
Eigen::MatrixXd mixing(int n) {
  Eigen::MatrixXd mix = Eigen::MatrixXd::Identity(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) mix(i, j) += 0.3 * std::sin(1.0 + 5.0 * i + 3.0 * j);
  return mix;
}

/// gain/(s + 1)^n, one behind the other.
StateSpace lags(Eigen::Index n, double gain) {
  Eigen::MatrixXd a = -Eigen::MatrixXd::Identity(n, n);
  a.diagonal(-1).setOnes();
  return state_space(a, gain * Eigen::VectorXd::Unit(n, 0), Eigen::RowVectorXd::Unit(n, n - 1));
}

TEST(TransferFunction, is_the_formula) {
  const TransferFunction transfer(lags(3, 2.0));
  for (const Complex s : {Complex(0.0, 0.3), Complex(0.0, 40.0), Complex(2.0, -1.0)})
    EXPECT_LT(std::abs(transfer(s)(0, 0) - 2.0 / std::pow(s + 1.0, 3)), 1e-14);
  const TransferFunction constant({Eigen::MatrixXd(0, 0), Eigen::MatrixXd(0, 1),
                                   Eigen::MatrixXd(1, 0), Eigen::MatrixXd::Constant(1, 1, 3.0)});
  EXPECT_EQ(constant({0.0, 1.0})(0, 0), Complex(3.0));
}

TEST(Zeros, of_every_relative_degree) {
  // (s^2 + 4) (s + 3), (s^2 + 4), 1 over s^4 in controllable form; with feedthrough 1 over s^3.
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(4, 4);
  a.diagonal(1).setOnes();
  const Eigen::VectorXd b = Eigen::VectorXd::Unit(4, 3);
  const auto three = zeros_of(state_space(a, b, Eigen::RowVector4d(12, 4, 3, 1)));
  ASSERT_EQ(three->size(), 3);
  for (const Complex zero : {Complex(0, 2), Complex(0, -2), Complex(-3)})
    EXPECT_LT((three->array() - zero).abs().minCoeff(), 1e-12);
  const auto two = zeros_of(state_space(a, b, Eigen::RowVector4d(4, 0, 1, 0)));
  ASSERT_EQ(two->size(), 2);
  EXPECT_LT((two->array() - Complex(0, 2)).abs().minCoeff(), 1e-12);
  EXPECT_EQ(zeros_of(state_space(a, b, Eigen::RowVector4d(1, 0, 0, 0)))->size(), 0);
  EXPECT_EQ(zeros_of(state_space(a, b, Eigen::RowVector4d::Zero(), 1.0))->size(), 4);
  EXPECT_FALSE(zeros_of(state_space(a, b, Eigen::RowVector4d::Zero())));
  EXPECT_FALSE(
      poles_and_zeros(state_space(a, Eigen::Vector4d::Zero(), Eigen::RowVector4d::Ones())).passes);
}

TEST(Zeros, that_cancel_poles_are_modes_that_are_not_reached) {
  Eigen::MatrixXd a = Eigen::Vector3d(-1, -2, -30).asDiagonal();
  const PolesAndZeros found =
      poles_and_zeros(state_space(a, Eigen::Vector3d(1, 0, 1), Eigen::RowVector3d(1, 1, 1)));
  ASSERT_EQ(found.cancelled.size(), 1u);
  EXPECT_LT(std::abs(found.cancelled[0] + 2.0), 1e-12);
  ASSERT_EQ(found.zeros.size(), 1u);
  EXPECT_LT(std::abs(found.zeros[0] + 15.5), 1e-12);
}

/// 4/(s + 1)^3: -1/2 at sqrt(3) rad/s; of size 1 where (1 + w^2)^3 = 16.
TEST(Margins, of_three_lags) {
  const LoopMargins margins = loop_margins(lags(3, 4.0));
  ASSERT_EQ(margins.gain.size(), 1u);
  EXPECT_NEAR(margins.gain[0].value, 2.0, 1e-12);
  EXPECT_NEAR(margins.gain[0].frequency, std::sqrt(3.0), 1e-12);
  const double crossing = std::sqrt(std::cbrt(16.0) - 1.0);
  ASSERT_EQ(margins.phase.size(), 1u);
  EXPECT_NEAR(margins.phase[0].frequency, crossing, 1e-12);
  const double phase = std::numbers::pi - 3.0 * std::atan(crossing);
  EXPECT_NEAR(margins.phase[0].value, phase, 1e-12);
  EXPECT_NEAR(margins.delay.value(), phase / crossing, 1e-12);
}

/// 1/(s + 1): never at -180 degrees; 2/s^2: always, and of size 1 at sqrt(2) rad/s.
TEST(Margins, that_are_not_there) {
  EXPECT_TRUE(loop_margins(lags(1, 0.5)).gain.empty());
  EXPECT_TRUE(loop_margins(lags(1, 0.5)).phase.empty());
  EXPECT_NEAR(loop_margins(lags(1, 0.5)).nearest.value, 1.0, 1e-3);
  Eigen::Matrix2d a;
  a << 0, 1, 0, 0;
  const LoopMargins margins =
      loop_margins(state_space(a, Eigen::Vector2d(0, 2), Eigen::RowVector2d(1, 0)));
  EXPECT_TRUE(margins.gain.empty());
  ASSERT_EQ(margins.phase.size(), 1u);
  EXPECT_NEAR(margins.phase[0].frequency, std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(margins.phase[0].value, 0.0, 1e-9);
}

TEST(Step, of_a_damped_oscillation) {
  Eigen::Matrix2d a;
  a << 0, 1, -1e4, -2;  // w = 100, zeta = 0.01
  const StepCurve step =
      step_response(state_space(a, Eigen::Vector2d(0, 1e4), Eigen::RowVector2d(1, 0)), {});
  EXPECT_NEAR(step.time.back(), 7.0, 1e-9);
  const double turns = std::sqrt(1e4 - 1.0);
  double error = 0.0;
  for (std::size_t i = 0; i < step.time.size(); ++i) {
    const double t = step.time[i];
    const double exact = 1.0 - std::exp(-t) * (std::cos(turns * t) + std::sin(turns * t) / turns);
    error = std::max(error, std::abs(step.value[i] - exact));
  }
  EXPECT_LT(error, 1e-9);
  EXPECT_NEAR(step_response(lags(2, 1.0), 3.0).time.back(), 3.0, 0.0);
}

TEST(BalancedTruncation, keeps_its_bound) {
  const ReducedSystem one = balanced_truncation(lags(1, 1.0), 0);
  EXPECT_NEAR(one.hankel[0], 0.5, 1e-14);  // 1/(s + 1)
  EXPECT_NEAR(one.bound, 1.0, 1e-14);      // reached at frequency 0
  EXPECT_NEAR(one.error, 1.0, 1e-3);
  for (Eigen::Index order = 1; order < 8; ++order) {
    const ReducedSystem less = balanced_truncation(lags(8, 1.0), order);
    EXPECT_EQ(less.system.a.rows(), order);
    EXPECT_LE(less.error, less.bound * (1.0 + 1e-9));
    EXPECT_GE(less.error, less.hankel[order] * (1.0 - 1e-6));  // Glover 1984: nothing is better
  }
}

TEST(BalancedTruncation, keeps_what_does_not_decay) {
  // 1/s^2 + 1/(s - 2) + 5/(s + 1) + 0.001/(s + 50), mixed by a change of states.
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(5, 5);
  const Eigen::MatrixXd mix = mixing(5), unmixed = DenseFactors(mix).inverse();
  a(0, 1) = 1.0;
  a(2, 2) = 2.0;
  a(3, 3) = -1.0;
  a(4, 4) = -50.0;
  Eigen::VectorXd b(5);
  Eigen::RowVectorXd c(5);
  b << 0, 1, 1, 1, 1;
  c << 1, 0, 1, 5, 0.001;
  const StateSpace mixed{unmixed * a * mix, unmixed * b, c * mix, Eigen::MatrixXd::Zero(1, 1)};
  const ReducedSystem less = balanced_truncation(mixed, 4);
  EXPECT_EQ(less.kept, 3);
  EXPECT_LE(less.error, less.bound * (1.0 + 1e-6));
  EXPECT_LT(less.bound, 1e-4);
  const TransferFunction transfer(less.system);
  for (const Complex s : {Complex(0.0, 0.1), Complex(0.0, 3.0)}) {
    const Complex exact = 1.0 / (s * s) + 1.0 / (s - 2.0) + 5.0 / (s + 1.0) + 0.001 / (s + 50.0);
    EXPECT_LT(std::abs(transfer(s)(0, 0) - exact), 1e-4);
  }
  EXPECT_THROW(balanced_truncation(mixed, 2), InputError);
  EXPECT_THROW(balanced_truncation(mixed, 5), InputError);
}

/// Double eigenvalues come apart by the root of rounding; they are shown as what they are.
TEST(Modes, at_rounding_are_zero) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(4, 4);
  a(0, 1) = 1.0;
  a(2, 3) = 1.0;
  a(3, 2) = -1e4;
  a(3, 3) = -2.0;
  const Eigen::MatrixXd mix = mixing(4), unmixed = DenseFactors(mix).inverse();
  const Eigen::VectorXcd shown = modes_of(unmixed * a * mix).shown_eigenvalues();
  EXPECT_EQ(shown[0], Complex(0.0));
  EXPECT_EQ(shown[1], Complex(0.0));
  EXPECT_NEAR(shown[2].real(), -1.0, 1e-9);
  EXPECT_NEAR(std::abs(shown[2].imag()), std::sqrt(1e4 - 1.0), 1e-9);
  const Eigen::VectorXcd slow =
      modes_of(Eigen::MatrixXd(Eigen::Vector2d(-1e-9, -1e4).asDiagonal())).shown_eigenvalues();
  EXPECT_EQ(slow[0], Complex(-1e-9));
}

}  // namespace
}  // namespace concord
