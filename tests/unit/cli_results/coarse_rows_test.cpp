#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "cli/resampling.hpp"

namespace concord {
namespace {

/// Ten rows in a period, as long macro-steps leave them: in some of so many grids what a polynomial
/// through four of them knows of itself is nothing by chance, which is no break of the signal.
TEST(Resampling, CoarseRowsWithSlopesAreSmooth) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> share(0.95, 1.05);
  double worst = 0.0;
  for (int grid = 0; grid < 200; ++grid) {
    std::vector<double> from{0.0}, values, slopes, to;
    while (from.size() < 100) from.push_back(from.back() + 0.63 * share(random));
    for (const double t : from) {
      values.push_back(std::sin(t) + 0.3 * std::sin(1.4 * t));
      slopes.push_back(std::cos(t) + 0.42 * std::cos(1.4 * t));
    }
    for (double t = 0.0; t < from.back(); t += 0.05) to.push_back(t);
    const Resampling between(from, to);
    const std::vector<double> found = between({values, {}, slopes, {}});
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double t = to[between.rows()[i]];
      worst = std::max(worst, std::abs(found[i] - std::sin(t) - 0.3 * std::sin(1.4 * t)));
    }
  }
  EXPECT_LT(worst, 1e-3);
}

/// A stiff layer between long steps: its rows say nothing of these.
TEST(Resampling, LayersLeadNowhere) {
  const auto part = [](double t) { return 0.5 + 0.5 * std::tanh(2e3 * (t - 0.976)); };
  const auto signal = [&](double t) { return -0.8 - 0.2 * part(t); };
  const auto slope = [&](double t) { return -0.2 * 4e3 * part(t) * (1.0 - part(t)); };
  const std::vector<double> from{0.1, 0.3, 0.53, 0.77, 0.9758, 0.9762, 0.99, 1.2, 1.4};
  std::vector<double> values, slopes, to;
  for (const double t : from) {
    values.push_back(signal(t));
    slopes.push_back(slope(t));
  }
  for (double t = 0.1; t < 1.4; t += 0.003) to.push_back(t);
  const Resampling between(from, to);
  for (const double value : between({values, {}, slopes, {}})) {
    EXPECT_GT(value, -1.3);
    EXPECT_LT(value, -0.5);
  }
}

/// Nobody has told of a jump that is half as large as the signal: it is not drawn over.
TEST(Resampling, JumpsBetweenRowsWithSlopesAreSeen) {
  const auto signal = [](double t) { return std::sin(t) + (t > 31.0 ? 1.0 : 0.0); };
  std::vector<double> from, values, slopes, to;
  for (double t = 0.0; t < 60.0; t += 0.3) {
    from.push_back(t);
    values.push_back(signal(t));
    slopes.push_back(std::cos(t));
  }
  for (double t = 0.0; t < from.back(); t += 0.07) to.push_back(t);
  const Resampling between(from, to);
  const std::vector<double> found = between({values, {}, slopes, {}});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double t = to[between.rows()[i]];
    if (std::abs(t - 31.0) > 0.3) {
      EXPECT_NEAR(found[i], signal(t), 1e-3) << t;
    }
  }
}

}  // namespace
}  // namespace concord
