#include "stepping/error_budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

/// E at the end of a run of 1000 macro-steps whose errors, share s each, act as `response` says.
template <class Response>
double error_of_run(double duration, Response response) {
  ErrorBudget budget(duration);
  double state = 0.0, largest = 0.0;
  const int steps = 1000;
  for (int i = 1; i <= steps; ++i) {
    const double dt = duration / steps;
    state = response(state, budget.share(), dt);
    largest = std::max(largest, std::abs(state));
    budget.observe(i * dt, largest);
  }
  return largest;
}

TEST(ErrorBudget, ErrorsThatAddUpEndNearTheTolerance) {
  for (const double rate : {1.0, 4.0, 10.0}) {
    const double error =
        error_of_run(1.0, [&](double e, double s, double dt) { return e + rate * s * dt; });
    EXPECT_GT(error, 0.1) << rate;
    EXPECT_LT(error, 0.6) << rate;
  }
}

TEST(ErrorBudget, ErrorsThatDieOutAreLeftAlone) {
  ErrorBudget budget(1000.0);
  double error = 0.0, largest = 0.0;
  for (int i = 1; i <= 1000; ++i) {
    error += (0.01 * budget.share() - error) * 0.5;
    largest = std::max(largest, error);
    budget.observe(i, largest);
  }
  EXPECT_DOUBLE_EQ(budget.share(), 2.0);
}

TEST(ErrorBudget, SharesStayWithinBounds) {
  ErrorBudget budget(1.0);
  EXPECT_DOUBLE_EQ(budget.share(), 1.0);
  for (int i = 1; i < 50; ++i) {
    budget.observe(0.01 * i, 1e6 * i);
  }
  EXPECT_GE(budget.share(), 0.02);
  budget.observe(0.6, std::nan(""));
  EXPECT_GE(budget.share(), 0.02);
}

TEST(ErrorBudget, AnErrorThatIsThereMayStillGrowByAPartOfItself) {
  ErrorBudget budget(1.0);
  for (int i = 1; i <= 40; ++i) {
    budget.observe(0.01 * i, 2.0);
  }
  EXPECT_GT(budget.share(), 0.5);
}

/// By hand: E over the spent share since the last quarter to half of the time, and what is left.
TEST(ErrorBudget, SharesFollowFromTheGrowthSinceAQuarterOfTheTime) {
  ErrorBudget budget(10.0);
  budget.observe(1.0, 0.01);  // hardly anything grows: the most, 2
  EXPECT_DOUBLE_EQ(budget.share(), 2.0);
  budget.observe(2.0, 0.06);  // 0.06 for a spent 1 + 2
  EXPECT_DOUBLE_EQ(budget.share(), (0.25 - 0.06) / (0.06 / 3.0 * 8.0));
  budget.observe(3.0, 0.08);  // half of the time, 2, was reached: the quarter is at 1
  EXPECT_DOUBLE_EQ(budget.share(), (0.25 - 0.08) / (0.07 / (2.0 + 1.1875) * 7.0));
  budget.observe(3.0, 5.0);  // no time has passed
  EXPECT_DOUBLE_EQ(budget.error(), 0.08);
  EXPECT_DOUBLE_EQ(budget.rest(), 7.0);
  budget.observe(3.5, 4.0);  // at most by a factor of two
  EXPECT_DOUBLE_EQ(budget.share(), 0.5 * (0.25 - 0.08) / (0.07 / (2.0 + 1.1875) * 7.0));
  EXPECT_DOUBLE_EQ(budget.free(), 0.2 * 4.0);
}

}  // namespace
}  // namespace concord
