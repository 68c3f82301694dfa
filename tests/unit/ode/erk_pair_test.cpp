#include "subsystem/ode/erk_pair.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace concord {
namespace erk_pair_test {

using Row = std::vector<double>;

/// x' = -a x with its own a in every lane, one micro-step of its own size from 1.
struct Decay {
  Row a, sizes;

  void take(ErkStages& stages, Row& x) const {
    const auto slopes = [&](std::span<const double> at, std::span<double> result) {
      for (std::size_t k = 0; k < a.size(); ++k) result[k] = -a[k] * at[k];
    };
    slopes(x, stages.slopes(0));
    for (std::size_t i = 1; i < stages.pair().stages(); ++i)
      slopes(stages.point(i, sizes, x), stages.slopes(i));
  }
};

double end_error(const ErkPair& pair, double size) {
  ErkStages stages(pair, 1, 1);
  Row x{1.0};
  const Decay decay{{1.0}, {size}};
  decay.take(stages, x);
  return std::abs(stages.end(decay.sizes, x)[0] - std::exp(-size));
}

double estimate(const ErkPair& pair, double size) {
  ErkStages stages(pair, 1, 1);
  Row x{1.0};
  const Decay decay{{1.0}, {size}};
  decay.take(stages, x);
  return std::abs(stages.error(decay.sizes)[0]);
}

double order(double coarse, double fine) { return std::log2(coarse / fine); }

/// Local errors of order q + 1, estimates of order p + 1.
TEST(ErkPair, OrdersOfBothPairs) {
  const ErkPair& usual = erk_pair(1e-6);
  EXPECT_NEAR(order(end_error(usual, 0.4), end_error(usual, 0.2)), 6.0, 0.3);
  EXPECT_NEAR(order(estimate(usual, 0.2), estimate(usual, 0.1)), usual.embedded_order() + 1, 0.3);
  const ErkPair& sharp = erk_pair(1e-11);
  EXPECT_NEAR(order(end_error(sharp, 0.2), end_error(sharp, 0.1)), 7.0, 0.4);
  EXPECT_NEAR(order(estimate(sharp, 0.4), estimate(sharp, 0.2)), sharp.embedded_order() + 1, 0.3);
}

/// What goes on errs by error_ratio() r^(1/(p+1)) times the estimate, r being that beside x = 1, up
/// to higher powers of the size; of pairs whose leading term was made small by less.
TEST(ErkPair, EstimatesTellTheHigherOrdersError) {
  const auto told_beside_true = [](const ErkPair& pair, double size) {
    const double told = estimate(pair, size);
    const double share = pair.error_ratio() * std::pow(told, 1.0 / (pair.embedded_order() + 1));
    return share * told / end_error(pair, size);
  };
  const ErkPair& usual = erk_pair(1e-6);
  EXPECT_NEAR(told_beside_true(usual, 0.5), 1.0, 0.1);
  EXPECT_NEAR(told_beside_true(usual, 0.1), 1.0, 0.03);
  EXPECT_EQ(erk_pair(1e-11).error_ratio(), 1.0);
  EXPECT_EQ(long_erk_pair().error_ratio(), 1.0);
  EXPECT_GT(told_beside_true(long_erk_pair(), 2.0), 1.0);
  EXPECT_LT(told_beside_true(long_erk_pair(), 1.0), 5.0);
}

TEST(ErkPair, OrdersOfTheLongPair) {
  const ErkPair& pair = long_erk_pair();
  EXPECT_EQ(pair.evaluations(), 13u);
  EXPECT_NEAR(order(estimate(pair, 0.5), estimate(pair, 0.25)), pair.embedded_order() + 1, 0.3);
}

/// Conditions that a linear problem doesn't see: sums of rows, and quadratures of powers of c.
TEST(ErkPair, TheLongPairIsConsistent) {
  const ErkPair& pair = long_erk_pair();
  for (std::size_t i = 0; i < pair.stages(); ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < i; ++j) sum += pair.a(i, j);
    EXPECT_NEAR(sum, pair.c(i), 1e-13) << i;
  }
  for (int k = 0; k < 8; ++k) {
    double integral = 0.0, error = 0.0;
    for (std::size_t i = 0; i < pair.stages(); ++i) {
      integral += pair.b(i) * std::pow(pair.c(i), k);
      error += pair.error(i) * std::pow(pair.c(i), k);
    }
    EXPECT_NEAR(integral, 1.0 / (k + 1), 1e-14) << k;
    if (k < 7) {
      EXPECT_NEAR(error, 0.0, 1e-14) << k;
    }
  }
}

/// x' = x y + sin t, y' = -x^2 + y cos 2t: the orders on a nonlinear system.
TEST(ErkPair, OrderOfTheLongPairOnANonlinearSystem) {
  const auto after = [](int steps) {
    ErkStages stages(long_erk_pair(), 2, 1);
    Row x{1.0, 0.5};
    const Row size{0.8 / steps};
    for (int n = 0; n < steps; ++n) {
      const auto slopes = [&](std::size_t stage, std::span<const double> at) {
        const double t = (n + stages.pair().c(stage)) * size[0];
        stages.slopes(stage)[0] = at[0] * at[1] + std::sin(t);
        stages.slopes(stage)[1] = -at[0] * at[0] + at[1] * std::cos(2 * t);
      };
      slopes(0, x);
      for (std::size_t i = 1; i < stages.pair().stages(); ++i) slopes(i, stages.point(i, size, x));
      const auto end = stages.end(size, x);
      x.assign(end.begin(), end.end());
    }
    return x;
  };
  const Row exact = after(32);
  const auto error = [&](int steps) {
    const Row x = after(steps);
    return std::abs(x[0] - exact[0]) + std::abs(x[1] - exact[1]);
  };
  EXPECT_NEAR(order(error(3), error(6)), 8.4, 0.8);
  EXPECT_LT(error(4), 2e-10);
}

TEST(ErkPair, LanesDoNotDependOnEachOther) {
  for (const double rtol : {1e-6, 1e-11}) {
    const Decay all{{1.0, 3.0, 0.7, 20.0, 1e-3}, {0.1, 0.2, 0.05, 0.4, 1.0}};
    Row x(5, 1.0);
    ErkStages together(erk_pair(rtol), 1, 5);
    all.take(together, x);
    const auto ends = together.end(all.sizes, x);
    const auto errors = together.error(all.sizes);
    for (std::size_t k = 0; k < 5; ++k) {
      ErkStages alone(erk_pair(rtol), 1, 1);
      Row own{1.0};
      const Decay decay{{all.a[k]}, {all.sizes[k]}};
      decay.take(alone, own);
      EXPECT_EQ(alone.end(decay.sizes, own)[0], ends[k]);
      EXPECT_EQ(alone.error(decay.sizes)[0], errors[k]);
    }
  }
}

/// The first slopes of the next micro-step.
TEST(ErkPair, DormandPrinceEndsAtItsLastStage) {
  ErkStages stages(erk_pair(1e-6), 1, 1);
  Row x{1.0};
  const Decay decay{{1.0}, {0.1}};
  decay.take(stages, x);
  const double end = stages.end(decay.sizes, x)[0];
  EXPECT_TRUE(stages.advance());
  EXPECT_EQ(stages.slopes(0)[0], -end);
  EXPECT_FALSE(ErkStages(erk_pair(1e-11), 1, 1).advance());
}

}  // namespace erk_pair_test
}  // namespace concord
