#include "signal/misleading_slope.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "signal/hold.hpp"

namespace concord {
namespace misleading_slope_test {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// A layer of rate 1e4 1/s under h = 0.025 s, in any unit and on any level, whether its curvature
/// is known or not.
TEST(MisleadingSlope, ALayersSlopeMisleads) {
  for (const double size : {1e-12, 1.0, 1e12}) {
    for (const double level : {0.0, 1.0}) {
      for (const double curvature : {not_known, -1e8 * 0.67 * size}) {
        const Sample before{level * size, 1e4 * 0.67 * size, curvature};
        const Sample after{(level + 0.67) * size, -0.1 * size};
        for (const int degree : {3, 5}) {
          EXPECT_TRUE(slope_misleads(before, after, 0.025, size, degree));
        }
      }
    }
  }
}

/// Decaying layers of any rate, on slow slopes: they count as such where their mean is nearer to
/// their end than to that of the hold.
TEST(MisleadingSlope, WhereTheEndTellsMoreThanTheHold) {
  for (const Hold& hold : {Hold::hermite, Hold::quintic}) {
    for (const double rate : {1.0, 3.0, 5.0, 5.9, 7.0, 8.0, 9.0, 12.0, 100.0, 1e4}) {
      const Sample begin{1.0, -rate, rate * rate};
      const Sample end{std::exp(-rate), -rate * std::exp(-rate), rate * rate * std::exp(-rate)};
      const Polynomial p = from_guess(hold, begin, end, 1.0, true);
      double of_hold = 0.0;
      for (std::size_t k = 0; k < p.c.size(); ++k) of_hold += p.c[k] / static_cast<double>(k + 1);
      const double mean = (1.0 - std::exp(-rate)) / rate;
      const bool by_end = std::abs(end.value - mean) < std::abs(of_hold - mean);

      EXPECT_EQ(slope_misleads(begin, end, 1.0, 1.0, hold.degree), by_end) << rate;
    }
  }
}

/// At every phase, up to three radians per macro-step, and on polynomials at rest.
TEST(MisleadingSlope, SlopesOfResolvedSignalsDoNotMislead) {
  for (const double angle : {0.01, 0.1, 0.5, 1.0, 2.0, 3.0}) {
    for (int k = 0; k < 1000; ++k) {
      const double phase = 0.00628318 * k;
      const Sample before{std::sin(phase), std::cos(phase), not_known};
      const Sample after{std::sin(phase + angle), std::cos(phase + angle)};
      EXPECT_FALSE(slope_misleads(before, after, angle, 1.0, 3)) << angle << " at " << phase;
    }
  }
  for (const double power : {2.0, 3.0, 4.0}) {
    EXPECT_FALSE(slope_misleads({1.0, -power, not_known}, {0.0, 0.0}, 1.0, 1.0, 3)) << power;
  }
}

/// Whatever a cubic does, and signals of two periods that both are resolved: also where they come
/// back, so that slopes alone would be those of a layer.
TEST(MisleadingSlope, WhatSwingsBackDoesNotMislead) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  int come_back = 0;
  const auto look = [&](Sample begin, Sample end, double h, int degree) {
    EXPECT_FALSE(slope_misleads(begin, end, h, 0.0, degree));
    begin.curvature = not_known;
    come_back += slope_misleads(begin, end, h, 0.0, degree) ? 1 : 0;
  };
  for (int k = 0; k < 100000; ++k) {
    const Polynomial cubic{{any(random), any(random), any(random), any(random)}};
    look(cubic.at(0.0), cubic.at(1.0), 1.0, 3);
    const double rate = 1.0 + any(random), phase = 3.2 * any(random), part = any(random);
    const auto at = [&](double t) {
      return Sample{std::sin(t) + part * std::sin(rate * t + phase),
                    std::cos(t) + part * rate * std::cos(rate * t + phase),
                    -std::sin(t) - part * rate * rate * std::sin(rate * t + phase)};
    };
    const double from = 100.0 * any(random);
    look(at(from), at(from + 0.7), 0.7, 5);
  }
  look({0.0, 1.0, -8.0}, {0.0, 0.0}, 1.0, 5);
  EXPECT_GT(come_back, 100);
}

TEST(MisleadingSlope, WhatCannotBeNoticedDoesNotMislead) {
  EXPECT_FALSE(slope_misleads({1.0, 1e-3, not_known}, {1.0, 0.0}, 0.1, 1.0, 3));
}

}  // namespace misleading_slope_test
}  // namespace concord
