#include "coupling/points/zero_stability.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace concord {
namespace zero_stability_test {

/// Two subsystems that feed each other with gains a and b.
Eigen::MatrixXd pair_of(double a, double b) { return Eigen::MatrixXd{{0.0, a}, {b, 0.0}}; }

/// In parallel (-1)^N sqrt(gain) is the worst, which extrapolation of order k takes times
/// 2^(k+1) - 1 (Arnold 2012): stable below gains 1, 1/9, 1/49, 1/225.
TEST(ZeroStability, LimitsOfThePair) {
  const double limits[] = {1.0, 1.0 / 9.0, 1.0 / 49.0, 1.0 / 225.0};
  for (int order = 0; order < 4; ++order) {
    const double gain = limits[order];
    EXPECT_NEAR(growth_factor(pair_of(std::sqrt(gain), std::sqrt(gain)), order), 1.0, 1e-12);
    EXPECT_GT(growth_factor(pair_of(1.1 * gain, 1.0), order), 1.0 + 1e-3) << order;
    EXPECT_LT(growth_factor(pair_of(0.9 * gain, 1.0), order), 1.0 - 1e-3) << order;
  }
}

TEST(ZeroStability, HeldValuesGrowByTheRootOfTheGain) {
  EXPECT_NEAR(growth_factor(pair_of(-0.5, 0.32), 0), 0.4, 1e-14);
  EXPECT_EQ(growth_factor(pair_of(0.0, 7.0), 0), 0.0);
}

TEST(ZeroStability, UnitsDoNotCount) {
  for (int order = 0; order < 4; ++order) {
    const double expected = growth_factor(pair_of(0.3, 0.2), order);
    EXPECT_NEAR(growth_factor(pair_of(0.3e9, 0.2e-9), order), expected, 1e-12) << order;
  }
}

TEST(ZeroStability, SequencesAndStaggeredGridsTakeWhatIsNew) {
  const Eigen::MatrixXd gains = pair_of(3.0, 0.2);
  EXPECT_EQ(loop_product(gains, {false, false}), gains);
  const Eigen::MatrixXd sequence{{0.0, 3.0}, {0.0, 0.6}};
  EXPECT_TRUE(loop_product(gains, {true, false}).isApprox(sequence, 1e-15));
  const Eigen::MatrixXd staggered{{0.6, 0.0}, {0.12, 0.0}};
  EXPECT_TRUE(staggered_product(gains, {true, false}).isApprox(staggered, 1e-15));
}

}  // namespace zero_stability_test
}  // namespace concord
