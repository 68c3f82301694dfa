#include "network/jump_watch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace concord {
namespace {

using Watch = JumpWatch::Watch;
using Signal = std::function<Sample(double)>;

/// Jumps that are found in [0, 10] s, with macro-steps of h.
int found(const Signal& signal, double h) {
  JumpWatch watch({Watch::doubtful_slopes});
  std::vector<Sample> now{signal(0.0)};
  watch.begin_anew(now);
  int jumps = 0;
  for (int n = 1; n * h <= 10.0; ++n) {
    now[0] = signal(n * h);
    watch.mend(0, h, now);
    jumps += watch.look(0, h, now, true);
  }
  return jumps;
}

TEST(JumpWatch, SmoothSignalsDoNotJump) {
  const std::vector<Signal> signals{[](double t) {
                                      return Sample{std::sin(3.0 * t), 3.0 * std::cos(3.0 * t)};
                                    },
                                    [](double t) {
                                      return Sample{1e-9 * std::cos(t), -1e-9 * std::sin(t)};
                                    },
                                    [](double t) {
                                      return Sample{std::pow(t, 6), 6.0 * std::pow(t, 5)};
                                    },
                                    [](double t) {
                                      return Sample{std::exp(-t), -std::exp(-t)};
                                    },
                                    [](double t) {
                                      return Sample{std::exp(2.0 * t), 2.0 * std::exp(2.0 * t)};
                                    },
                                    [](double t) {
                                      return Sample{t > 5.0 ? (t - 5.0) : 0.0, t > 5.0 ? 1.0 : 0.0};
                                    },
                                    [](double) {
                                      return Sample{7.0, 0.0};
                                    }};
  for (const Signal& signal : signals)
    for (const double h : {1.0, 0.5, 0.3, 0.1, 0.01}) EXPECT_EQ(found(signal, h), 0) << h;
}

/// Chains of subsystems: the k-th signal begins like t^(2k), or wakes up late.
TEST(JumpWatch, FrontsDoNotJump) {
  for (const double n : {10.0, 30.0, 80.0, 300.0}) {
    const auto front = [&](double t) {
      return Sample{std::pow(t / 10.0, n), n / 10.0 * std::pow(t / 10.0, n - 1.0)};
    };
    for (const double h : {1.0, 0.3, 0.1, 0.01}) EXPECT_EQ(found(front, h), 0) << n << ' ' << h;
  }
  const auto arrival = [](double t) {
    const double bell = std::exp(-10.0 * (t - 8.0) * (t - 8.0));
    return Sample{bell, -20.0 * (t - 8.0) * bell};
  };
  for (const double h : {0.1, 0.05, 0.01}) EXPECT_EQ(found(arrival, h), 0) << h;
}

TEST(JumpWatch, SquareWaves) {
  const auto wave = [](double t) {
    return Sample{std::fmod(std::floor(t / 1.937), 2.0) == 0.0 ? 1.0 : -1.0, 0.0};
  };
  for (const double h : {0.3, 0.1, 0.01}) EXPECT_EQ(found(wave, h), 5) << h;
}

TEST(JumpWatch, SlopesAcrossAJumpBecomeZero) {
  JumpWatch watch({Watch::doubtful_slopes, Watch::no});
  std::vector<Sample> now{{1.0, 0.1}, {1.0, 0.1}};
  watch.begin_anew(now);
  for (int n = 1; n < 5; ++n) {
    now = {{1.0 + 0.01 * n, 0.1}, {1.0 + 0.01 * n, 0.1}};
    watch.mend(0, 0.1, now);
    EXPECT_EQ(watch.look(0, 0.1, now, true), 0);
    EXPECT_EQ(now[0].derivative, 0.1);
  }
  now = {{2.0, 300.0}, {2.0, 300.0}};
  watch.mend(0, 0.1, now);
  EXPECT_EQ(now[0].derivative, 0.0);
  EXPECT_EQ(now[1].derivative, 300.0);
  EXPECT_EQ(watch.look(0, 0.1, now, true), 1);
}

TEST(JumpWatch, WhatFollowsAnEventIsNoJump) {
  JumpWatch watch({Watch::doubtful_slopes});
  std::vector<Sample> now{{1.0, 0.0}};
  watch.begin_anew(now);
  for (int n = 0; n < 5; ++n) EXPECT_EQ(watch.look(0, 0.1, now, true), 0);
  now = {{2.0, 0.0}};
  watch.begin_anew(now);
  now = {{3.0, 500.0}};
  watch.mend(0, 0.1, now);
  EXPECT_EQ(now[0].derivative, 500.0);
  EXPECT_EQ(watch.look(0, 0.1, now, true), 0);
}

/// Those of equations are not mended, and without them nothing is said of a jump.
TEST(JumpWatch, ExactSlopesAreBelieved) {
  for (const bool slopes_known : {true, false}) {
    JumpWatch watch({Watch::exact_slopes});
    std::vector<Sample> now{{1.0, 0.0}};
    watch.begin_anew(now);
    for (int n = 1; n < 5; ++n) EXPECT_EQ(watch.look(0, 0.1, now, slopes_known), 0);
    now = {{1.0, 300.0}};
    watch.mend(0, 0.1, now);
    EXPECT_EQ(now[0].derivative, 300.0);
    now = {{2.0, 0.0}};
    EXPECT_EQ(watch.look(0, 0.1, now, slopes_known), slopes_known ? 1 : 0);
  }
}

}  // namespace
}  // namespace concord
