#include "subsystem/slow/window_inputs.hpp"

#include <gtest/gtest.h>

#include <array>

namespace concord {
namespace {

constexpr double rounding = 1e-13;

/// n macro-steps of size h of a signal, held at its slope over each but exact at the ends.
template <class Signal>
void pass(WindowInputs& window, const Signal& signal, double begin, double h, int n) {
  for (int step = 0; step < n; ++step) {
    const double from = signal(begin + step * h), to = signal(begin + (step + 1) * h);
    const Polynomial line{{from, (to - from) / h, 0.0, 0.0}};
    window.add(h, {&line, 1});
  }
}

double cubic(double t) { return 1.0 + t * (2.0 + t * (-3.0 + 0.5 * t)); }

TEST(WindowInputs, CubicsAreReproduced) {
  for (const int n : {3, 4, 5, 17}) {
    WindowInputs window(1);
    pass(window, cubic, 0.7, 0.1, n);
    EXPECT_EQ(window.macro_steps(), n);
    EXPECT_NEAR(window.size(), 0.1 * n, rounding);
    const Polynomial input = window.over_window()[0];
    for (const double tau : {0.0, 0.033, 0.1 * n}) {
      EXPECT_NEAR(input(tau), cubic(0.7 + tau), rounding * 100.0);
    }
  }
}

TEST(WindowInputs, TwoMacroStepsLookBack) {
  WindowInputs window(1);
  pass(window, cubic, 0.0, 0.1, 2);
  EXPECT_EQ(window.over_window()[0].c[3], 0.0);  // through three points
  window.end_window();
  pass(window, cubic, 0.2, 0.1, 2);
  EXPECT_NEAR(window.over_window()[0](0.05), cubic(0.25), rounding * 100.0);
  window.begin_anew();
  pass(window, cubic, 0.4, 0.1, 2);
  EXPECT_EQ(window.over_window()[0].c[3], 0.0);
}

TEST(WindowInputs, OneMacroStepIsTheInputItself) {
  WindowInputs window(1);
  const Polynomial input{{1.0, 2.0, 3.0, 4.0}};
  window.add(0.1, {&input, 1});
  EXPECT_EQ(window.over_window()[0].c, input.c);
}

TEST(WindowInputs, EqualValuesStayEqual) {
  WindowInputs window(1);
  pass(
      window, [](double) { return 0.1; }, 0.0, 0.3, 7);
  const std::array<double, 6> constant{0.1};
  EXPECT_EQ(window.over_window()[0].c, constant);
}

}  // namespace
}  // namespace concord
