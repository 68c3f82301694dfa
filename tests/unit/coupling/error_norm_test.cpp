#include "coupling/problem/error_norm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace concord {
namespace error_norm_test {

constexpr Tolerance tolerance{1e-6, 1e-6, true};

TEST(ErrorNorm, TheWorstSignalDecidesHoweverManyAreIdle) {
  ErrorNorm norm(MPI_COMM_SELF, tolerance, 3, 100, 100);
  norm.begin(0.1);
  norm.add(0, 3e-6, 1.0, 1.0);
  for (std::size_t i = 1; i < 100; ++i) {
    norm.add(i, 0.0, 0.0, 0.0);
  }
  EXPECT_DOUBLE_EQ(norm.worst(), 1.5);
}

TEST(ErrorNorm, UnitsDoNotMatter) {
  for (const double unit : {1e-12, 1e12}) {
    ErrorNorm norm(MPI_COMM_SELF, tolerance, 3, 100, 1);
    norm.begin(0.1);
    norm.add(0, 3e-6 * unit, 0.2 * unit, unit);
    EXPECT_NEAR(norm.worst(), 1.5, 1e-12);
  }
}

TEST(ErrorNorm, NoiseIsNoErrorAndNotANumberIsInfinite) {
  ErrorNorm norm(MPI_COMM_SELF, tolerance, 3, 100, 1);
  norm.begin(0.1);
  norm.add(0, 1e-9, 1e-9, 1e-9, norm.noise(1.0));
  EXPECT_EQ(norm.worst(), 0.0);
  norm.begin(0.1);
  norm.add(0, std::nan(""), 1.0, 1.0);
  EXPECT_EQ(norm.worst(), std::numeric_limits<double>::infinity());
}

/// y = t^6/720 under the estimate h^4 y''''/720, growing steps: nothing holds them, up to where h
/// is the usual share of t.
TEST(ErrorNorm, SignalsThatRiseFromNothingLetStepsGrow) {
  ErrorNorm norm(MPI_COMM_SELF, tolerance, 3, 100, 1);
  norm.restart();
  norm.begins_at_zero(0);
  double t = 0.0, h = 1e-5;
  while (t < 0.2) {
    const double end = t + h;
    norm.begin(h);
    norm.add(0, std::pow(h, 4) * end * end / 2.0 / 720.0, std::pow(end, 6) / 720.0,
             std::pow(t, 6) / 720.0);
    ASSERT_LT(norm.worst(), 1.0) << t;
    norm.commit();
    t = end;
    h = std::max(h, 0.3 * t);
  }
}

/// One that wakes up within a later macro-step is held to its tolerance.
TEST(ErrorNorm, SignalsThatWakeUpAreWeighed) {
  ErrorNorm norm(MPI_COMM_SELF, tolerance, 3, 100, 1);
  norm.restart();
  norm.begins_at_zero(0);
  norm.begin(0.1);
  norm.add(0, 0.0, 0.0, 0.0);
  norm.commit();
  norm.begin(0.1);
  norm.add(0, 1e-2, 1.0, 0.0);
  EXPECT_GT(norm.worst(), 1e3);
  norm.begin(1e-3);
  norm.add(0, 1e-6, 1e-4, 0.0);  // beside what the last trial has shown
  EXPECT_LT(norm.worst(), 1.0);
}

}  // namespace error_norm_test
}  // namespace concord
