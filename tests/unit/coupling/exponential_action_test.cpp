#include "coupling/estimation/exponential_action.hpp"

#include <gtest/gtest.h>

#include "coupling/estimation/phi_functions.hpp"

namespace concord {
namespace exponential_action_test {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double h = 0.2;

MatrixXd some_forcing(Index n) {
  MatrixXd forcing(n, 4);
  for (Index i = 0; i < n; ++i) {
    for (Index p = 0; p < 4; ++p) {
      forcing(i, p) = std::sin(1.0 + 3.0 * static_cast<double>(i) + 2.0 * static_cast<double>(p));
    }
  }
  return forcing;
}

/// Largest difference from the phi matrices, relative to the largest entry.
double far_from_dense(const MatrixXd& a) {
  const Index n = a.rows();
  const MatrixXd forcing = some_forcing(n);
  PhiMatrices phi;
  phi.compute(a, MatrixXd::Identity(n, n), h);
  VectorXd expected = phi.constant * forcing.col(0);
  for (Index p = 1; p < 4; ++p) {
    expected += phi.power[p - 1] * forcing.col(p);
  }
  ExponentialAction action;
  action.prepare(a, h);
  return (action.response(forcing) - expected).cwiseAbs().maxCoeff() /
         expected.cwiseAbs().maxCoeff();
}

/// Neighbours that exchange heat (coupling > 0, `waves` false) or push each other.
MatrixXd chain(Index n, double coupling) {
  MatrixXd a = -2 * coupling * MatrixXd::Identity(n, n);
  for (Index i = 1; i < n; ++i) {
    a(i, i - 1) = a(i - 1, i) = coupling;
  }
  return a;
}

TEST(ExponentialAction, HeatFromMildToStiff) {
  for (const double coupling : {0.1, 10.0, 1e4, 1e8}) {
    EXPECT_LT(far_from_dense(chain(50, coupling)), 1e-8) << coupling;
  }
}

TEST(ExponentialAction, SpringsThatOscillateOften) {
  const Index n = 25;
  for (const double stiffness : {1.0, 1e3, 1e5}) {
    MatrixXd a = MatrixXd::Zero(2 * n, 2 * n);
    a.topRightCorner(n, n).setIdentity();
    a.bottomLeftCorner(n, n) = chain(n, stiffness);
    EXPECT_LT(far_from_dense(a), 1e-7) << stiffness;
  }
}

TEST(ExponentialAction, Dense) {
  const Index n = 40;
  MatrixXd a(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      a(i, j) = std::cos(1.0 + 7.0 * static_cast<double>(i) + 5.0 * static_cast<double>(j));
    }
  }
  EXPECT_LT(far_from_dense(a), 1e-8);
}

TEST(ExponentialAction, Singular) { EXPECT_LT(far_from_dense(MatrixXd::Zero(45, 45)), 1e-12); }

TEST(ExponentialAction, NoForcing) {
  ExponentialAction action;
  action.prepare(chain(50, 10.0), h);
  EXPECT_EQ(action.response(MatrixXd::Zero(50, 4)).norm(), 0.0);
}

TEST(ExponentialAction, NotANumber) {
  ExponentialAction action;
  MatrixXd a = chain(50, 10.0);
  a(3, 4) = std::nan("");
  action.prepare(a, h);
  EXPECT_TRUE(std::isnan(action.response(some_forcing(50))[0]));
}

/// I - gamma h A is singular for the first gamma.
TEST(ExponentialAction, SingularShift) {
  EXPECT_LT(far_from_dense(MatrixXd::Identity(50, 50) / (0.1 * h)), 1e-8);
}

TEST(ExponentialAction, OtherStepAndMatrix) {
  ExponentialAction action;
  const MatrixXd forcing = some_forcing(50);
  action.prepare(chain(50, 1e5), 1.0);
  action.response(forcing);
  action.prepare(chain(50, 10.0), h);
  ExponentialAction fresh;
  fresh.prepare(chain(50, 10.0), h);
  const VectorXd expected = fresh.response(forcing);
  EXPECT_LT((action.response(forcing) - expected).norm(), 1e-9 * expected.norm());
}

}  // namespace exponential_action_test
}  // namespace concord
