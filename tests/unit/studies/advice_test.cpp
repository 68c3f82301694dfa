#include "studies/advice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace concord {
namespace {

/// error = (step/h0)^p, work = factor/step.
std::vector<WorkPoint> ideal(const std::string& type, double order, double factor) {
  std::vector<WorkPoint> points;
  for (const double step : {0.1, 0.01, 0.001})
    points.push_back({type, step, std::pow(step, order), factor / step});
  return points;
}

TEST(Advice, BetweenTwoSteps) {
  const auto advice = advice_for(1e-3, ideal("two", 2.0, 1.0));
  ASSERT_TRUE(advice);
  EXPECT_TRUE(advice->reached);
  EXPECT_NEAR(advice->step, std::sqrt(1e-3), 1e-12);
  EXPECT_NEAR(advice->work, 1.0 / std::sqrt(1e-3), 1e-9);
}

TEST(Advice, TheCheaperMethod) {
  std::vector<WorkPoint> points = ideal("one", 1.0, 1.0);
  const auto four = ideal("four", 4.0, 10.0);
  points.insert(points.end(), four.begin(), four.end());
  EXPECT_EQ(advice_for(0.05, points)->type, "one");
  EXPECT_EQ(advice_for(1e-3, points)->type, "four");
}

/// What no run has reached follows from the last two, but not before what one has.
TEST(Advice, ByItsOrder) {
  const auto advice = advice_for(1e-8, ideal("two", 2.0, 1.0));
  ASSERT_TRUE(advice);
  EXPECT_FALSE(advice->reached);
  EXPECT_NEAR(advice->step, 1e-4, 1e-12);
  std::vector<WorkPoint> points = ideal("two", 2.0, 1.0);
  points.push_back({"sure", 1.0, 1e-9, 1e9});
  EXPECT_EQ(advice_for(1e-8, points)->type, "sure");
}

/// Smaller steps are not always more work, and an error of 0 has no logarithm.
TEST(Advice, CheapestOfThoseThatDo) {
  EXPECT_EQ(advice_for(1e-3, {{"a", 0.1, 1e-5, 900}, {"a", 0.05, 1e-6, 400}})->step, 0.05);
  EXPECT_EQ(advice_for(1e-3, {{"a", 0.1, 1e-2, 10}, {"a", 0.05, 0.0, 20}})->step, 0.05);
}

TEST(Advice, None) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(advice_for(1e-3, {}));
  EXPECT_FALSE(advice_for(1e-3, {{"a", 0.1, 1e-2, 10}}));
  EXPECT_FALSE(advice_for(1e-3, {{"a", 0.1, 1e-2, 10}, {"a", 0.05, 1e-2, 20}}));
  EXPECT_FALSE(advice_for(1e-3, {{"a", 0.1, nan, 10}, {"a", 0.05, nan, 20}}));
}

}  // namespace
}  // namespace concord
