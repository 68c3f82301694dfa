#include "subsystem/ode/erk_pair.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace concord {
namespace {

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

}  // namespace
}  // namespace concord
