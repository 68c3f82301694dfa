#include "coupling/estimation/phi_functions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace concord {
namespace phi_functions_test {

using Eigen::MatrixXd;

constexpr double h = 0.3;

double far(const MatrixXd& found, const MatrixXd& expected) {
  return (found - expected).cwiseAbs().maxCoeff() / (1e-300 + expected.cwiseAbs().maxCoeff());
}

MatrixXd input_matrix(Eigen::Index n) {
  MatrixXd b(n, 2);
  for (Eigen::Index i = 0; i < n; ++i) {
    b.row(i) << 1.0 + 0.5 * static_cast<double>(i), 0.7 - static_cast<double>(i);
  }
  return b;
}

PhiMatrices phi_of(const MatrixXd& a, Response response = Response::expm) {
  PhiMatrices phi;
  phi.compute(a, input_matrix(a.rows()), h, response);
  return phi;
}

/// phi_k(z) by its series where |z| is small, by the recurrence elsewhere.
double phi(int k, double z) {
  if (std::abs(z) < 1.0) {
    double sum = 0.0, term = 1.0 / std::tgamma(k + 1.0);
    for (int j = 1; j < 25; ++j) {
      sum += term;
      term *= z / (k + j);
    }
    return sum;
  }
  return k == 0 ? std::exp(z) : (phi(k - 1, z) - 1.0 / std::tgamma(k)) / z;
}

TEST(PhiMatrices, Integrator) {
  const auto found = phi_of(MatrixXd::Zero(2, 2));
  EXPECT_LT(far(found.constant, h * MatrixXd::Identity(2, 2)), 1e-15);
  EXPECT_LT(far(found.ramp, h / 2 * MatrixXd::Identity(2, 2)), 1e-15);
  for (int p = 1; p <= 3; ++p) {
    EXPECT_LT(far(found.power[p - 1], h / (p + 1) * input_matrix(2)), 1e-15) << p;
  }
}

TEST(PhiMatrices, DiagonalFromSlowToStiff) {
  const double rates[] = {-1e6, -20.0, -1e-9, 2.0};
  MatrixXd a = MatrixXd::Zero(4, 4);
  for (int i = 0; i < 4; ++i) {
    a(i, i) = rates[i];
  }
  const auto found = phi_of(a);
  const double factorial[] = {1, 1, 2, 6};
  for (int i = 0; i < 4; ++i) {
    const double z = h * rates[i];
    EXPECT_NEAR(found.constant(i, i) / (h * phi(1, z)), 1.0, 1e-10) << z;
    EXPECT_NEAR(found.ramp(i, i) / (h * phi(2, z)), 1.0, 1e-10) << z;
    for (int p = 1; p <= 3; ++p) {
      const double expected = factorial[p] * h * phi(p + 1, z) * input_matrix(4)(i, 0);
      EXPECT_NEAR(found.power[p - 1](i, 0) / expected, 1.0, 1e-9) << z << ' ' << p;
    }
  }
}

TEST(PhiMatrices, Nilpotent) {
  MatrixXd a = MatrixXd::Zero(2, 2);
  a(0, 1) = 1.0;
  const MatrixXd identity = MatrixXd::Identity(2, 2);
  const auto found = phi_of(a);
  EXPECT_LT(far(found.constant, h * identity + h * h / 2 * a), 1e-15);
  EXPECT_LT(far(found.ramp, h / 2 * identity + h * h / 6 * a), 1e-15);
  for (int p = 1; p <= 3; ++p) {
    const MatrixXd expected = h / (p + 1) * (identity + h / (p + 2) * a) * input_matrix(2);
    EXPECT_LT(far(found.power[p - 1], expected), 1e-15) << p;
  }
}

TEST(PhiMatrices, Oscillator) {
  for (const double w : {0.1, 5.0, 300.0}) {
    MatrixXd a(2, 2), integral(2, 2);
    a << 0, w, -w, 0;
    const double s = std::sin(w * h) / w, c = (1 - std::cos(w * h)) / w;
    integral << s, c, -c, s;
    EXPECT_LT(far(phi_of(a).constant, integral), 1e-11) << w;
  }
}

TEST(PhiMatrices, Recurrences) {
  MatrixXd a(3, 3);
  a << -2, 5, 0.3, -4, -1, 2, 0.1, 0, 0;
  const MatrixXd b = input_matrix(3);
  const auto found = phi_of(a);
  EXPECT_LT(far(a * found.ramp, found.constant / h - MatrixXd::Identity(3, 3)), 1e-13);
  EXPECT_LT(far(found.power[0], found.ramp * b), 1e-13);
  EXPECT_LT(far(a * found.power[1], 2 / h * found.power[0] - b), 1e-13);
  EXPECT_LT(far(a * found.power[2], 3 / h * found.power[1] - b), 1e-13);
}

TEST(PhiMatrices, QuinticInputs) {
  MatrixXd a(3, 3);
  a << -2, 5, 0.3, -4, -1, 2, 0.1, 0, 0;
  const MatrixXd b = input_matrix(3);
  const auto cubic = phi_of(a);
  PhiMatrices found;
  found.compute(a, b, h, Response::expm, 5);
  ASSERT_EQ(found.power.size(), 5);
  EXPECT_LT(far(found.power[2], cubic.power[2]), 1e-12);
  EXPECT_LT(far(a * found.power[3], 4 / h * found.power[2] - b), 1e-12);
  EXPECT_LT(far(a * found.power[4], 5 / h * found.power[3] - b), 1e-12);
}

/// Series below a norm of 1, the exponential above.
TEST(PhiMatrices, AgreeOnBothSidesOfTheSeries) {
  MatrixXd a(3, 3);
  a << -2, 5, 0.3, -4, -1, 2, 0.1, 0, 0;
  a /= 7.3 * h;
  for (const int degree : {3, 5}) {
    PhiMatrices below, above;
    below.compute((1.0 - 1e-13) * a, input_matrix(3), h, Response::expm, degree);
    above.compute((1.0 + 1e-13) * a, input_matrix(3), h, Response::expm, degree);
    EXPECT_LT(far(below.constant, above.constant), 1e-12);
    EXPECT_LT(far(below.ramp, above.ramp), 1e-12);
    EXPECT_LT(far(below.square, above.square), 1e-12);
    for (std::size_t p = 0; p < below.power.size(); ++p) {
      EXPECT_LT(far(below.power[p], above.power[p]), 1e-12) << p;
    }
  }
}

TEST(PhiMatrices, SmallStepsToRounding) {
  for (const double z : {-0.9, -1e-2, -1e-8, 0.0, 1e-5, 0.7}) {
    const auto found = phi_of(MatrixXd::Constant(1, 1, z / h));
    const double factorial[] = {1, 1, 2, 6};
    EXPECT_NEAR(found.constant(0, 0) / (h * phi(1, z)), 1.0, 2e-15) << z;
    EXPECT_NEAR(found.square(0, 0) / (2.0 * h * phi(3, z)), 1.0, 2e-15) << z;
    for (int p = 1; p <= 3; ++p) {
      const double expected = factorial[p] * h * phi(p + 1, z) * input_matrix(1)(0, 0);
      EXPECT_NEAR(found.power[p - 1](0, 0) / expected, 1.0, 2e-15) << z << ' ' << p;
    }
  }
}

TEST(PhiMatrices, LargeInputMatrix) {
  MatrixXd a(1, 1);
  a << -1.0;
  const MatrixXd b = MatrixXd::Constant(1, 1, 1e12);
  PhiMatrices found;
  found.compute(a, b, h);
  EXPECT_NEAR(found.power[0](0, 0) / (1e12 * h * phi(2, -h)), 1.0, 1e-13);
}

TEST(PhiMatrices, NoStates) {
  PhiMatrices found;
  found.compute(MatrixXd(0, 0), MatrixXd(0, 2), h);
  EXPECT_EQ(found.power[2].rows(), 0);
  EXPECT_EQ(found.power[2].cols(), 2);
}

TEST(PhiMatrices, StehfestIsNearButWorse) {
  MatrixXd a(3, 3);
  a << -2, 5, 0.3, -4, -1, 2, 0.1, 0, 0;
  const auto exact = phi_of(a), found = phi_of(a, Response::stehfest);
  const auto check = [](const MatrixXd& of, const MatrixXd& against) {
    EXPECT_LT(far(of, against), 1e-2);
    EXPECT_GT(far(of, against), 1e-9);
  };
  check(found.constant, exact.constant);
  check(found.ramp, exact.ramp);
  for (int p = 0; p < 3; ++p) {
    check(found.power[p], exact.power[p]);
  }
}

}  // namespace phi_functions_test
}  // namespace concord
