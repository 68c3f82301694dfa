#include "signal/input_spline.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace concord {
namespace input_spline_test {

constexpr double h = 0.3;
constexpr int pieces = InputSpline::pieces;

constexpr Polynomial cubic{{1.5, -2.0, 4.0, -7.0}};
constexpr Polynomial constant{{1.0, 0.0, 0.0, 0.0}};
constexpr Polynomial other_constant{{-2.0, 0.0, 0.0, 0.0}};

double second_derivative(const Polynomial& p, double tau) {
  return 2.0 * p.c[2] + 6.0 * p.c[3] * tau;
}

/// Value, slope and curvature of neighbouring pieces at their joints.
void expect_smooth_joints(const InputSpline& spline, bool curvature) {
  for (int p = 0; p + 1 < pieces; ++p) {
    const Polynomial left = spline.piece(p, h), right = spline.piece(p + 1, h);
    EXPECT_NEAR(left(h / pieces), right(0.0), 1e-12) << p;
    EXPECT_NEAR(left.derivative(h / pieces), right.derivative(0.0), 1e-10) << p;
    if (curvature) {
      EXPECT_NEAR(second_derivative(left, h / pieces), second_derivative(right, 0.0), 1e-8) << p;
    }
  }
}

double sum_of_pieces(const InputSpline& spline) {
  double sum = 0.0;
  for (int p = 0; p < pieces; ++p) {
    sum += integral(spline.piece(p, h), h / pieces);
  }
  return sum;
}

TEST(InputSpline, IsTheCubicItself) {
  const InputSpline spline(cubic, h);
  for (int p = 0; p < pieces; ++p) {
    for (const double part : {0.0, 0.4, 1.0}) {
      const double tau = h * part / pieces;
      EXPECT_NEAR(spline.piece(p, h)(tau), cubic(h * p / pieces + tau), 1e-13);
    }
  }
  EXPECT_NEAR(spline.integral(h), integral(cubic, h), 1e-15);
}

TEST(InputSpline, BumpHasTheGivenIntegralAndVanishesAtTheEnds) {
  InputSpline spline(cubic, h);
  constexpr double amount = 0.7;
  spline.add_bump(amount, h);
  EXPECT_NEAR(spline.integral(h), integral(cubic, h) + amount, 1e-14);
  EXPECT_NEAR(sum_of_pieces(spline), integral(cubic, h) + amount, 1e-13);
  expect_smooth_joints(spline, true);
  const Polynomial first = spline.piece(0, h), last = spline.piece(pieces - 1, h);
  EXPECT_NEAR(first(0.0), cubic(0.0), 1e-14);
  EXPECT_NEAR(first.derivative(0.0), cubic.derivative(0.0), 1e-12);
  EXPECT_NEAR(second_derivative(first, 0.0), second_derivative(cubic, 0.0), 1e-9);
  EXPECT_NEAR(last(h / pieces), cubic(h), 1e-13);
  EXPECT_NEAR(last.derivative(h / pieces), cubic.derivative(h), 1e-11);
  EXPECT_NEAR(second_derivative(last, h / pieces), second_derivative(cubic, h), 1e-8);
}

TEST(InputSpline, BumpIsSymmetricAndNowhereNegative) {
  InputSpline spline(Polynomial{}, h);
  spline.add_bump(1.0, h);
  for (int p = 0; p < pieces; ++p) {
    for (int i = 0; i <= 10; ++i) {
      const double tau = h / pieces * i / 10.0;
      EXPECT_GE(spline.piece(p, h)(tau), -1e-13);
      EXPECT_NEAR(spline.piece(p, h)(tau), spline.piece(pieces - 1 - p, h)(h / pieces - tau),
                  1e-12);
    }
  }
}

TEST(InputSpline, SwitchesBetweenConstantsWithoutJumpInTwoDerivatives) {
  const InputSpline spline(constant, 0.1, other_constant, h);
  expect_smooth_joints(spline, true);
  const Polynomial first = spline.piece(0, h), last = spline.piece(pieces - 1, h);
  EXPECT_EQ(first(0.0), 1.0);
  EXPECT_EQ(first.derivative(0.0), 0.0);
  EXPECT_NEAR(second_derivative(first, 0.0), 0.0, 1e-10);
  EXPECT_NEAR(last(h / pieces), -2.0, 1e-14);
  EXPECT_NEAR(last.derivative(h / pieces), 0.0, 1e-12);
  EXPECT_NEAR(second_derivative(last, h / pieces), 0.0, 1e-9);
  EXPECT_NEAR(spline.integral(h), h * (1.0 - 2.0) / 2.0, 1e-15);
  EXPECT_NEAR(sum_of_pieces(spline), h * (1.0 - 2.0) / 2.0, 1e-14);
  for (int p = 0; p < pieces; ++p) {
    EXPECT_GE(first(0.0), spline.piece(p, h)(h / pieces));  // no overshoot
    EXPECT_LE(-2.0 - 1e-14, spline.piece(p, h)(h / pieces));
  }
}

TEST(InputSpline, SwitchesNearlyAsThePolynomialOfDegreeFive) {
  const InputSpline spline(Polynomial{}, 0.1, constant, h);
  double farthest = 0.0;
  for (int p = 0; p < pieces; ++p) {
    for (int i = 0; i <= 100; ++i) {
      const double tau = h / pieces * i / 100.0;
      const double x = (tau + h * p / pieces) / h;
      const double degree_five = x * x * x * (10.0 + x * (6.0 * x - 15.0));
      farthest = std::max(farthest, std::abs(spline.piece(p, h)(tau) - degree_five));
    }
  }
  EXPECT_NEAR(farthest, 0.0209, 1e-4);
}

TEST(InputSpline, SwitchingBeginsWhereTheOldHoldEndsAndEndsOnTheNew) {
  const Polynomial old{{0.3, 1.0, -2.0, 5.0}};
  constexpr double old_h = 0.2;
  const InputSpline spline(old, old_h, cubic, h);
  expect_smooth_joints(spline, false);
  const Polynomial first = spline.piece(0, h), last = spline.piece(pieces - 1, h);
  EXPECT_DOUBLE_EQ(first(0.0), old(old_h));
  EXPECT_DOUBLE_EQ(first.derivative(0.0), old.derivative(old_h));
  EXPECT_NEAR(last(h / pieces), cubic(h), 1e-13);
  EXPECT_NEAR(last.derivative(h / pieces), cubic.derivative(h), 1e-12);
}

/// Old and new hold are one function: nothing to switch.
TEST(InputSpline, SwitchingChangesNothingWhereTheOldHoldGoesOn) {
  constexpr double old_h = 0.2;
  const Polynomial continued{
      {cubic(old_h), cubic.derivative(old_h), second_derivative(cubic, old_h) / 2.0, cubic.c[3]}};
  const InputSpline spline(cubic, old_h, continued, h);
  for (int p = 0; p < pieces; ++p) {
    EXPECT_NEAR(spline.piece(p, h)(0.02), continued(h * p / pieces + 0.02), 1e-13);
  }
}

TEST(Integral, OfEveryPower) {
  for (std::size_t k = 0; k < 6; ++k) {
    Polynomial power;
    power.c[k] = 1.0;
    EXPECT_DOUBLE_EQ(integral(power, h),
                     std::pow(h, static_cast<double>(k + 1)) / static_cast<double>(k + 1))
        << k;
  }
}

TEST(Integral, HermiteIsThatOfTheCubicAndOfFourthOrder) {
  EXPECT_NEAR(hermite_integral(cubic.at(0.0), cubic.at(h), h), integral(cubic, h), 1e-15);
  const auto error = [](double size) {
    const Sample begin{std::sin(1.0), std::cos(1.0)};
    const Sample end{std::sin(1.0 + size), std::cos(1.0 + size)};
    return std::abs(hermite_integral(begin, end, size) - (std::cos(1.0) - std::cos(1.0 + size)));
  };
  EXPECT_NEAR(std::log2(error(0.2) / error(0.1)), 5.0, 0.1);
}

}  // namespace input_spline_test
}  // namespace concord
