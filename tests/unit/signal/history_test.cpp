#include "signal/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace concord {
namespace history_test {

/// 2 - t + 3 t^2 - 0.5 t^3 + 0.25 t^4, cut after `degree`, and its multiple for a second signal.
double polynomial(double t, int degree) {
  const double c[] = {2.0, -1.0, 3.0, -0.5, 0.25};
  double value = 0.0;
  for (int p = degree; p >= 0; --p) {
    value = value * t + c[p];
  }
  return value;
}

double slope(double t, int degree) {
  const double c[] = {0.0, -1.0, 6.0 * t, -1.5 * t * t, t * t * t};
  double value = 0.0;
  for (int p = 1; p <= degree; ++p) {
    value += c[p];
  }
  return value;
}

std::vector<Sample> samples(double t, int degree) {
  const double v = polynomial(t, degree);
  const double d = slope(t, degree);
  return {{v, d}, {-1.0, 0.0}, {10.0 * v, 10.0 * d}};
}

const std::vector<std::size_t> extrapolated{0, 2};

/// A history told of times rather than of distances.
class TimedHistory : public SignalHistory {
 public:
  using SignalHistory::SignalHistory;
  void push(double time, std::span<const Sample> samples) {
    SignalHistory::push(time - newest_, samples);
    newest_ = time;
  }
  void start(double time, std::span<const Sample> samples, bool slopes_known) {
    SignalHistory::start(samples, slopes_known);
    newest_ = time;
  }

 private:
  double newest_ = 0.0;
};

/// Signals 0 and 2 from the history at tau after the newest point.
std::vector<double> values_at(const SignalHistory& history, double tau) {
  std::vector<Polynomial> result(3);
  history.extrapolate(extrapolated, result);
  EXPECT_EQ(result[1].c, Polynomial{}.c) << "a signal that was not asked for";
  return {result[0](tau), result[2](tau)};
}

class ExtrapolationOrder : public testing::TestWithParam<int> {};

TEST_P(ExtrapolationOrder, ReproducesPolynomialsOverUnequalSteps) {
  const int k = GetParam();
  TimedHistory history(3, k);
  // More points than needed: the oldest must drop out.
  for (const double t : {0.0, 0.3, 0.35, 0.9, 1.0, 1.7}) {
    history.push(t, samples(t, k));
  }
  for (const double tau : {0.0, 0.1, 0.8}) {
    const auto values = values_at(history, tau);
    EXPECT_NEAR(values[0], polynomial(1.7 + tau, k), 1e-11);
    EXPECT_NEAR(values[1], 10.0 * polynomial(1.7 + tau, k), 1e-10);
  }
}

TEST_P(ExtrapolationOrder, DoesNotReproduceOneDegreeMore) {
  const int k = GetParam();
  TimedHistory history(3, k);
  for (const double t : {0.0, 0.3, 0.35, 0.9, 1.0, 1.7}) {
    history.push(t, samples(t, k + 1));
  }
  EXPECT_GT(std::abs(values_at(history, 0.8)[0] - polynomial(2.5, k + 1)), 1e-2);
}

TEST_P(ExtrapolationOrder, FarFromTimeZeroLosesNothing) {
  const int k = GetParam();
  constexpr double far = 1.7e9;
  TimedHistory history(3, k);
  for (const double t : {0.0, 0.25, 0.5, 1.0}) {
    history.push(far + t, samples(t, k));
  }
  EXPECT_NEAR(values_at(history, 0.5)[0], polynomial(1.5, k), 1e-10);
}

TEST_P(ExtrapolationOrder, GrowsWithTheNumberOfPoints) {
  const int k = GetParam();
  TimedHistory history(3, k);
  for (int known = 1; known <= k + 1; ++known) {
    const double t = 0.3 * known * known;
    const int degree = known - 1;
    // All points so far on a polynomial of the degree that they determine.
    history = TimedHistory(3, k);
    for (int j = 1; j <= known; ++j) {
      history.push(0.3 * j * j, samples(0.3 * j * j, degree));
    }
    EXPECT_NEAR(values_at(history, 0.2)[0], polynomial(t + 0.2, degree), 1e-10) << known;
  }
}

TEST_P(ExtrapolationOrder, SlopeAtTheStartTakesThePlaceOfAPoint) {
  const int k = GetParam();
  for (int points = 1; points <= k; ++points) {
    TimedHistory history(3, k);
    history.push(-1.0, samples(-1.0, 0));  // the past that start() drops
    history.start(0.0, samples(0.0, points), true);
    double t = 0.0;
    for (int j = 1; j < points; ++j) {
      t = 0.2 * j * j;
      history.push(t, samples(t, points));
    }
    EXPECT_EQ(history.known(), points);
    EXPECT_NEAR(values_at(history, 0.3)[0], polynomial(t + 0.3, points), 1e-11) << points;
  }
}

TEST_P(ExtrapolationOrder, SlopeAtTheStartIsForgottenOnceThereAreEnoughPoints) {
  const int k = GetParam();
  TimedHistory history(3, k), without(3, k);
  history.start(0.0, std::vector<Sample>{{0.0, 1e6}, {0.0, 1e6}, {0.0, 1e6}}, true);
  without.start(0.0, std::vector<Sample>(3), false);
  for (int j = 1; j <= k; ++j) {
    history.push(0.1 * j, samples(0.1 * j, k));
    without.push(0.1 * j, samples(0.1 * j, k));
  }
  EXPECT_EQ(values_at(history, 0.1), values_at(without, 0.1));
}

TEST_P(ExtrapolationOrder, StartWithoutSlopesIsConstant) {
  TimedHistory history(3, GetParam());
  history.push(-1.0, samples(-1.0, 3));
  history.start(0.0, samples(0.0, 3), false);
  EXPECT_EQ(values_at(history, 0.7)[0], polynomial(0.0, 3));
}

INSTANTIATE_TEST_SUITE_P(All, ExtrapolationOrder, testing::Values(0, 1, 2, 3));

/// Through the newest points and the new one: exact for polynomials of that degree.
TEST(SignalHistory, InterpolatesToTheNewValues) {
  for (const int order : {0, 1, 2, 3}) {
    const int degree = std::max(1, order);
    TimedHistory history(3, order);
    for (const double t : {0.0, 0.3, 0.4, 0.9}) {
      history.push(t, samples(t, degree));
    }
    constexpr double h = 0.25;
    const auto ends = samples(0.9 + h, degree);
    std::vector<Polynomial> result(3);
    history.interpolate(h, extrapolated, ends, result);
    for (const double tau : {0.0, 0.1, h}) {
      EXPECT_NEAR(result[0](tau), polynomial(0.9 + tau, degree), 1e-12) << order;
      EXPECT_NEAR(result[2](tau), 10.0 * polynomial(0.9 + tau, degree), 1e-11) << order;
    }
  }
}

TEST(SignalHistory, InterpolatesThroughTheOnlyPointAtTheStart) {
  TimedHistory history(3, 2);
  history.start(0.0, samples(0.0, 1), true);
  std::vector<Polynomial> result(3);
  history.interpolate(0.5, extrapolated, samples(0.5, 1), result);
  EXPECT_NEAR(result[0](0.2), polynomial(0.2, 1), 1e-13);
}

/// Values and slopes at the newest points in turn: exact for polynomials of the order's degree.
class HermiteOrder : public testing::TestWithParam<int> {};

double far_from_degree(int order, int degree) {
  TimedHistory history(3, order, Extrapolation::hermite);
  for (const double t : {0.0, 0.3, 0.35, 0.9, 1.2, 1.7}) {
    history.push(t, samples(t, degree));
  }
  const auto values = values_at(history, 0.8);
  EXPECT_NEAR(values[1], 10.0 * values[0], 1e-9);
  return std::abs(values[0] - polynomial(2.5, degree));
}

TEST_P(HermiteOrder, ReproducesItsDegreeOverUnequalStepsAndNoMore) {
  EXPECT_LT(far_from_degree(GetParam(), GetParam()), 1e-11);
  EXPECT_GT(far_from_degree(GetParam(), GetParam() + 1), 1e-2);
}

TEST_P(HermiteOrder, NeedsOnePointForOrderOneAndTwoForThree) {
  const int k = GetParam();
  TimedHistory history(3, k, Extrapolation::hermite);
  history.push(-1.0, samples(-1.0, 4));  // the past that start() drops
  history.start(0.0, samples(0.0, 1), true);
  EXPECT_NEAR(values_at(history, 0.4)[0], polynomial(0.4, std::min(k, 1)), k == 0 ? 1.0 : 1e-12);
  history.start(0.0, samples(0.0, k), true);
  history.push(0.5, samples(0.5, k));
  EXPECT_NEAR(values_at(history, 0.4)[0], polynomial(0.9, k), 1e-11);
}

INSTANTIATE_TEST_SUITE_P(All, HermiteOrder, testing::Values(1, 2, 3));

TEST(SignalHistory, InterpolatesValuesAndSlopesWithHermite) {
  TimedHistory history(3, 1, Extrapolation::hermite);
  history.start(0.2, samples(0.2, 3), true);
  std::vector<Polynomial> result(3);
  history.interpolate(0.5, extrapolated, samples(0.7, 3), result);
  EXPECT_NEAR(result[0](0.3), polynomial(0.5, 3), 1e-12);
  EXPECT_NEAR(result[2](0.5), 10.0 * polynomial(0.7, 3), 1e-11);
}

/// As many points as there are, up to four with the new one, whatever the order of the hold.
TEST(SignalHistory, ReconstructsFromUpToFourPoints) {
  for (int known = 1; known <= 5; ++known) {
    const int degree = std::min(known, 3);
    TimedHistory history(3, 0);
    double t = 0.0;
    for (int j = 0; j < known; ++j) {
      t = 0.1 * j * j;
      history.push(t, samples(t, degree));
    }
    std::vector<Polynomial> result(3);
    history.reconstruct(0.4, extrapolated, samples(t + 0.4, degree), result);
    EXPECT_NEAR(result[0](0.3), polynomial(t + 0.3, degree), 1e-11) << known;
  }
}

TEST(SignalHistory, DropsTheNewestPoint) {
  for (int known = 2; known < 7; ++known) {
    TimedHistory with(3, 2), without(3, 2);
    for (int n = 0; n < known; ++n) {
      with.push(0.1 * n, samples(0.1 * n, 4));
      if (n + 1 < known) {
        without.push(0.1 * n, samples(0.1 * n, 4));
      }
    }
    with.drop_newest();
    EXPECT_EQ(values_at(with, 0.05), values_at(without, 0.05)) << known;
  }
}

}  // namespace history_test
}  // namespace concord
