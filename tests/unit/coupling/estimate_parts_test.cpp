#include <gtest/gtest.h>

#include <cmath>

#include "coupling/estimates/estimate_interval.hpp"
#include "coupling/estimates/hermite_errors.hpp"
#include "coupling/estimates/past_means.hpp"

namespace concord {
namespace estimate_parts_test {

/// Macro-steps until the interval is over.
int length_of(EstimateInterval& interval) {
  int count = 1;
  while (!interval.add(0.5)) {
    ++count;
  }
  return count;
}

TEST(EstimateInterval, GrowsWhereLittleChangesAndShrinksWhereMuchDoes) {
  EstimateInterval interval(2, false, false, false);
  for (const int length : {1, 2, 4, 8, 16, 32, 64, 64}) {
    EXPECT_EQ(length_of(interval), length);
    EXPECT_EQ(interval.span(), 0.5 * length);
    interval.next(0.05);
    EXPECT_TRUE(interval.empty());
  }
  interval.next(0.2);
  EXPECT_EQ(length_of(interval), 64);
  interval.next(0.4);
  EXPECT_EQ(length_of(interval), 32);
  interval.shorten();
  EXPECT_EQ(length_of(interval), 1);
}

TEST(EstimateInterval, IsShortOnlyAsLongAsThatIsFree) {
  EstimateInterval interval(1000, false, false, false), always(1000, true, false, false);
  for (int k = 0; k < 7; ++k) {
    interval.next(1.0);
    EXPECT_EQ(length_of(interval), 1);
  }
  for (int k = 0; k < 9; ++k) {
    interval.next(1.0);
    always.next(1.0);
  }
  EXPECT_EQ(length_of(interval), 16);
  EXPECT_EQ(length_of(always), 1);
}

/// w = t^4 and w', and the integral of w.
Sample quartic(double t) { return {std::pow(t, 4), 4.0 * std::pow(t, 3)}; }
double integral(double t) { return std::pow(t, 5) / 5.0; }

TEST(HermiteErrors, AQuarticsMeanIsExactFromTheSecondMacroStepOn) {
  HermiteErrors errors(1, false);
  errors.start(true);
  EXPECT_TRUE(errors.slopes_known());
  double t = 1.0, missed_at_first = 0.0;
  for (int k = 0; k < 3; ++k, t += 0.5) {
    const double mean = (integral(t + 0.5) - integral(t)) / 0.5;
    const auto error = errors.add(0, mean, quartic(t), quartic(t + 0.5), 0.5);
    errors.end_step(0.5);
    if (k == 0) {
      missed_at_first = error.of_polynomial;
      EXPECT_NEAR(missed_at_first, 24.0 * std::pow(0.5, 4) / 720.0, 1e-14);
      continue;
    }
    EXPECT_NEAR(error.of_polynomial + error.beyond, 0.0, 1e-13);
    EXPECT_NEAR(error.first, k == 1 ? -0.5 * missed_at_first : 0.0, 1e-13);
  }
}

/// w = t^6 with w' and w'', by macro-steps of unequal size.
TEST(HermiteErrors, ASexticsMeanIsExactWithCurvatures) {
  const auto sextic = [](double t) {
    return Sample{std::pow(t, 6), 6.0 * std::pow(t, 5), 30.0 * std::pow(t, 4)};
  };
  HermiteErrors errors(1, true);
  errors.start(true);
  double t = 1.0, missed_at_first = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double mean = (std::pow(t + 0.5, 7) - std::pow(t, 7)) / 7.0 / 0.5;
    const auto error = errors.add(0, mean, sextic(t), sextic(t + 0.5), 0.5);
    errors.end_step(0.5);
    t += 0.5;
    if (k == 0) {
      missed_at_first = error.of_polynomial;
      EXPECT_NEAR(missed_at_first, -720.0 * std::pow(0.5, 6) / 100800.0, 1e-13);
      continue;
    }
    EXPECT_NEAR(error.of_polynomial + error.beyond, 0.0, 1e-11);
    EXPECT_NEAR(error.first, k == 1 ? -0.5 * missed_at_first : 0.0, 1e-11);
  }
}

TEST(PastMeans, GoThroughTheLastValuesOfUnequalMacroSteps) {
  PastMeans past(1, 3);
  const auto w = [](double t) { return 1.0 + t - 3.0 * t * t; };
  const auto mean = [](double a, double b) {
    const auto whole = [](double t) { return t + t * t / 2.0 - t * t * t; };
    return (whole(b) - whole(a)) / (b - a);
  };
  past.set(0, w(0.0), 5.0);
  past.start();
  double t = 0.0;
  for (const double h : {0.1, 0.3, 0.2, 0.2}) {
    past.advance(h);
    t += h;
    past.set(0, w(t), 5.0);
    const double line = 0.5 * (w(0.0) + w(0.1));
    EXPECT_NEAR(past.of_values(0), t == 0.1 ? line : mean(t - h, t), 1e-13);
    EXPECT_NEAR(past.of_given(0), 5.0, 1e-13);
  }
}

}  // namespace estimate_parts_test
}  // namespace concord
