#include "signal/end_curvature.hpp"

#include <gtest/gtest.h>

namespace concord {
namespace end_curvature_test {

constexpr double h = 0.3;

/// 1 + 2 t - 3 t^2 + 4 t^3, with all slopes wrong by `wrong`.
Sample cubic_at(double t, double wrong = 0.0) {
  return {1 + t * (2 + t * (-3 + 4 * t)), 2 - 6 * t + 12 * t * t + wrong, -6 + 24 * t};
}

TEST(EndCurvature, IsThatOfACubic) {
  EXPECT_NEAR(EndCurvature::of(cubic_at(0), cubic_at(h), h), -6 + 24 * h, 1e-12);
}

TEST(EndCurvature, ForgetsWhatWasWrongAtTheBeginning) {
  double wrong = 10.0;
  for (int step = 0; step < 40; ++step) {
    Sample begin = cubic_at(step * h);
    const double end = cubic_at((step + 1) * h).curvature;
    begin.curvature += wrong;
    wrong = EndCurvature::of(begin, cubic_at((step + 1) * h), h) - end;
  }
  EXPECT_LT(std::abs(wrong), 1e-3);
}

/// h^3/120 of both second derivatives is what a quintic adds to its integral: of the slopes' error
/// e a seventh remains of what the cubics' second derivatives would make, 6 e/h each.
TEST(EndCurvature, HardlyFeelsAnErrorThatAllSlopesShare) {
  constexpr double wrong = 1e-3;
  Sample begin = cubic_at(0, wrong);
  for (int step = 0; step < 40; ++step) {
    const Sample end = cubic_at((step + 1) * h, wrong);
    const double curvature = EndCurvature::of(begin, end, h);
    begin = end;
    begin.curvature = curvature;
  }
  EXPECT_NEAR(begin.curvature, cubic_at(40 * h).curvature + wrong * 6 / h / 7, 1e-4 * wrong / h);
}

TEST(EndCurvature, Derivatives) {
  const Sample begin = cubic_at(0), end = cubic_at(h);
  Sample higher = end, steeper = end;
  higher.value += 1;
  steeper.derivative += 1;
  const double usual = EndCurvature::of(begin, end, h);
  EXPECT_NEAR(EndCurvature::of(begin, higher, h) - usual, EndCurvature::by_value(h), 1e-10);
  EXPECT_NEAR(EndCurvature::of(begin, steeper, h) - usual, EndCurvature::by_slope(h), 1e-10);
}

}  // namespace end_curvature_test
}  // namespace concord
