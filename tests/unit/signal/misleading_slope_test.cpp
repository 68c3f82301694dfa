#include "signal/misleading_slope.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace concord {
namespace {

/// A layer of rate 1e4 1/s under h = 0.025 s, in any unit and on any level.
TEST(MisleadingSlope, ALayersSlopeMisleads) {
  for (const double size : {1e-12, 1.0, 1e12}) {
    for (const double level : {0.0, 1.0}) {
      const Sample before{level * size, 1e4 * 0.67 * size};
      const Sample after{(level + 0.67) * size, -0.1 * size};
      EXPECT_TRUE(slope_misleads(before, after, 0.025, size));
    }
  }
}

/// At every phase, up to three radians per macro-step, and on polynomials at rest.
TEST(MisleadingSlope, SlopesOfResolvedSignalsDoNotMislead) {
  for (const double angle : {0.01, 0.1, 0.5, 1.0, 2.0, 3.0}) {
    for (int k = 0; k < 1000; ++k) {
      const double phase = 0.00628318 * k;
      const Sample before{std::sin(phase), std::cos(phase)};
      const Sample after{std::sin(phase + angle), std::cos(phase + angle)};
      EXPECT_FALSE(slope_misleads(before, after, angle, 1.0)) << angle << " at " << phase;
    }
  }
  for (const double power : {2.0, 3.0, 4.0}) {
    EXPECT_FALSE(slope_misleads({1.0, -power}, {0.0, 0.0}, 1.0, 1.0)) << power;
  }
}

TEST(MisleadingSlope, WhatCannotBeNoticedDoesNotMislead) {
  EXPECT_FALSE(slope_misleads({1.0, 1e-3}, {1.0, 0.0}, 0.1, 1.0));
}

}  // namespace
}  // namespace concord
