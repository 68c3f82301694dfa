#include "coupling/implicit/contraction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace concord {
namespace contraction_test {

using Vector = std::array<double, 4>;

double largest(const Vector& v) {
  double worst = 0.0;
  for (const double entry : v) {
    worst = std::max(worst, std::abs(entry));
  }
  return worst;
}

/// u_i = gain u_{i-1} in a ring whose last connection has the gain, the others one: the fixed point
/// U_{k+1} = P K U_k, whose solution is 0.
struct Ring {
  double gain;
  Vector u;

  Vector next() const { return {gain * u[3], u[0], u[1], u[2]}; }
  Vector residual() const {
    const Vector n = next();
    return {u[0] - n[0], u[1] - n[1], u[2] - n[2], u[3] - n[3]};
  }
};

TEST(Contraction, KnowsNothingBeforeTwoResiduals) {
  Contraction contraction;
  contraction.expect(0.1);
  contraction.begin(0.5);
  EXPECT_TRUE(std::isinf(contraction.amplification()));
  contraction.add(0.05, 0.5, 0.45);
  EXPECT_NEAR(contraction.amplification(), 1.0 / (1.0 - 0.1), 1e-12);
  EXPECT_NEAR(contraction.rate(), 0.1, 1e-12);
}

TEST(Contraction, BoundsTheErrorOfAFixedPointAroundALoop) {
  for (const double gain : {0.1, 0.9, 0.99}) {
    Ring ring{gain, {1.0, 0.3, -0.2, 0.5}};
    Contraction contraction;
    contraction.begin(largest(ring.residual()));
    for (int k = 0; k < 60; ++k) {
      const Vector before = ring.residual();
      ring.u = ring.next();
      const Vector now = ring.residual();
      Vector change{};
      for (std::size_t i = 0; i < change.size(); ++i) {
        change[i] = now[i] - before[i];
      }
      contraction.add(largest(now), largest(before), largest(change));
      const double estimate = contraction.amplification() * largest(now);
      if (k >= 8) {
        EXPECT_GT(estimate, 0.5 * largest(ring.u)) << "gain " << gain << ", iteration " << k;
      }
    }
    EXPECT_NEAR(contraction.rate(), std::pow(gain, 0.25), 0.02);
  }
}

/// An accelerated iteration hides how far it steps: R falls at once, U is off by R / (1 - gain).
TEST(Contraction, SeesWhatAcceleratedIterationsStep) {
  Contraction contraction;
  contraction.begin(1.0);
  contraction.add(0.06, 940.0, 0.94);
  EXPECT_NEAR(contraction.amplification(), 1000.0, 1e-9);
}

TEST(Contraction, WhatGrowsIsNotConverged) {
  Contraction contraction;
  contraction.begin(0.1);
  contraction.add(0.2, 0.1, 0.1);
  EXPECT_TRUE(std::isinf(contraction.amplification()));
}

TEST(Contraction, IsRememberedForStepsOfAboutTheSameSize) {
  Contraction contraction;
  contraction.begin(1.0);
  contraction.add(0.5, 1.0, 0.5);
  contraction.remember(0.1);
  contraction.expect(0.1);
  EXPECT_NEAR(contraction.amplification(), 2.0, 1e-12);
  contraction.expect(0.2);
  EXPECT_TRUE(std::isinf(contraction.amplification()));
}

TEST(Contraction, MemoryFadesAndIsDropped) {
  Contraction contraction;
  contraction.begin(1.0);
  contraction.add(0.5, 1.0, 0.5);
  contraction.remember(0.1);
  for (int k = 0; k < 10; ++k) {
    contraction.expect(0.1);
    EXPECT_FALSE(std::isinf(contraction.amplification()));
  }
  contraction.expect(0.1);
  EXPECT_TRUE(std::isinf(contraction.amplification()));
}

}  // namespace contraction_test
}  // namespace concord
