#include <gtest/gtest.h>

#include <cmath>

#include "models.hpp"

namespace concord::test {
namespace sizes_test {

constexpr IntegratorKind kinds[] = {IntegratorKind::erk, IntegratorKind::dirk,
                                    IntegratorKind::cvode_bdf, IntegratorKind::cvode_adams,
                                    IntegratorKind::automatic};

SubsystemSettings of_size(IntegratorKind kind, double rtol = 1e-8) {
  SubsystemSettings settings = settings_of(kind, rtol);
  settings.tolerance.of_size = true;
  return settings;
}

void run(Subsystem& s, double end, int steps) {
  s.start({0.0, end / steps}, end);
  for (int n = 0; n < steps; ++n) {
    Sample y;
    ASSERT_EQ(s.advance({end * n / steps, end * (n + 1) / steps}, {}, InputContinuity::smooth,
                        Wanted::values, {&y, 1}),
              Outcome::ok)
        << s.failure();
  }
}

/// x'' = -9 x from x = unit, and states that start at 0: the integral of x, that of this one, and a
/// lag of 1 ms behind x.
LambdaModel::Function oscillator() {
  return [](double, Span x, Span, Out dxdt) {
    dxdt[0] = x[1];
    dxdt[1] = -9.0 * x[0];
    dxdt[2] = x[0];
    dxdt[3] = x[2];
    dxdt[4] = 1e3 * (x[0] - x[4]);
  };
}

TEST(Sizes, ResultsDontDependOnUnits) {
  for (const auto kind : kinds)
    for (const double unit : {1e-250, 1e-150, 1e-30, 1e-12, 1e-9, 1.0, 1e12, 1e150})
      for (const int steps : {3, 200}) {
        const auto s = subsystem_of({unit, 0.0, 0.0, 0.0, 0.0}, 0, oscillator(), of_size(kind));
        run(*s, 2.0, steps);
        const double c = std::cos(6.0), sine = std::sin(6.0), k = 1e3;
        const double lag = (k * k * c + 3 * k * sine - k * k * std::exp(-2 * k)) / (k * k + 9);
        const double exact[] = {c, -3 * sine, sine / 3, (1 - c) / 9, lag};
        for (std::size_t i = 0; i < 5; ++i)
          EXPECT_NEAR(s->states()[i] / unit, exact[i], 3e-5)
              << static_cast<int>(kind) << ' ' << unit << ' ' << steps << ' ' << i;
      }
}

TEST(Sizes, UnitsAreOfEachState) {
  for (const auto kind : kinds) {
    // A pressure of 1e5 and a flow of 1e-12 turn into each other.
    const auto s = subsystem_of(
        {1e5, 0.0}, 0,
        [](double, Span x, Span, Out dxdt) {
          dxdt[0] = 3e17 * x[1];
          dxdt[1] = -3e-17 * x[0];
        },
        of_size(kind));
    run(*s, 2.0, 100);
    EXPECT_NEAR(s->states()[0] / 1e5, std::cos(6.0), 3e-5) << static_cast<int>(kind);
    EXPECT_NEAR(s->states()[1] / 1e-12, -std::sin(6.0), 3e-5) << static_cast<int>(kind);
  }
}

/// x' = -3 x + s sin 3t - x^3/s^2 from rest, beside z' = -z + x: without Jacobians the increment
/// for x is found from how f answers, not from the size of z.
TEST(Sizes, WithoutOneYetAStateIsMeasuredByItself) {
  const auto at_the_end = [](IntegratorKind kind, double unit, double other) {
    const auto f = [unit](double t, Span x, Span, Out dxdt) {
      dxdt[0] = -3.0 * x[0] + unit * std::sin(3.0 * t) - x[0] * x[0] * x[0] / (unit * unit);
      dxdt[1] = -x[1] + x[0];
    };
    const auto s = subsystem_of({0.0, other}, 0, f, of_size(kind));
    run(*s, 1.0, 100);
    return s->states()[0] / unit;
  };
  const double exact = at_the_end(IntegratorKind::erk, 1.0, 1.0);
  for (const auto kind : kinds)
    for (const double unit : {1e-12, 1e-8, 1.0, 1e8, 1e12})
      for (const double other : {1e-10, 1e10, 1e20})
        EXPECT_NEAR(at_the_end(kind, unit, other), exact, 1e-6)
            << static_cast<int>(kind) << ' ' << unit << ' ' << other;
}

TEST(Sizes, WhatIsOnlyRoundingCostsNothing) {
  // The difference of two equal states is 0 but for rounding, 1e-16 of them.
  const auto f = [](double, Span x, Span, Out dxdt) {
    dxdt[0] = x[1];
    dxdt[1] = -9.0 * x[0];
    dxdt[2] = 0.1 * x[0] + 0.2 * x[0] - 0.3 * x[0];
  };
  for (const auto kind : kinds) {
    const auto s = subsystem_of({1.0, 0.0, 0.0}, 0, f, of_size(kind));
    const auto alone = subsystem_of(
        {1.0, 0.0}, 0,
        [](double, Span x, Span, Out dxdt) {
          dxdt[0] = x[1];
          dxdt[1] = -9.0 * x[0];
        },
        of_size(kind));
    run(*s, 10.0, 1000);
    run(*alone, 10.0, 1000);
    EXPECT_LT(std::abs(s->states()[2]), 1e-14);
    EXPECT_LT(s->counters().rhs_evaluations, alone->counters().rhs_evaluations * 3 / 2 + 300)
        << static_cast<int>(kind);
  }
}

TEST(Sizes, RestingAtZeroIsNoDemand) {
  for (const auto kind : kinds) {
    const auto s = subsystem_of({0.0, 0.0, 0.0, 0.0, 0.0}, 0, oscillator(), of_size(kind));
    run(*s, 2.0, 10);
    for (const double x : s->states()) EXPECT_EQ(x, 0.0);
    EXPECT_LT(s->counters().rhs_evaluations, 10 * 60);
  }
}

/// x' = exp(10 t) - 1 - 10 t: from 0 like t^3, so steeply that x has no size where the second
/// macro-step begins.
TEST(Sizes, WhatRisesFromZeroIsWatched) {
  const auto f = [](double t, Span, Span, Out dxdt) {
    dxdt[0] = std::exp(10.0 * t) - 1.0 - 10.0 * t;
  };
  const double exact = (std::exp(5.0) - 1.0) / 10.0 - 0.5 - 1.25;
  for (const auto kind : kinds)
    for (const int steps : {2, 5, 25}) {
      const auto s = subsystem_of({0.0}, 0, f, of_size(kind));
      run(*s, 0.5, steps);
      EXPECT_NEAR(s->states()[0], exact, 3e-7 * exact) << static_cast<int>(kind) << ' ' << steps;
    }
}

/// x' = exp(-((t - 7.3)/0.05)^2): for as long as x is above 0 it grows by more than half in each
/// macro-step of 0.1.
TEST(Sizes, WhatTimeMakesRiseIsWatched) {
  const auto f = [](double t, Span, Span, Out dxdt) {
    dxdt[0] = std::exp(-std::pow((t - 7.3) / 0.05, 2));
  };
  const double exact = 0.025 * std::sqrt(std::acos(-1.0)) * std::erfc(2.0);
  for (const auto kind : kinds) {
    const auto s = subsystem_of({0.0}, 0, f, of_size(kind));
    run(*s, 7.2, 72);
    EXPECT_NEAR(s->states()[0], exact, 1e-5 * exact) << static_cast<int>(kind);
  }
}

TEST(Sizes, NominalValuesCountFromTheStart) {
  // Far below its nominal value a state may be rough.
  struct Nominal final : OdeModel {
    OdeInterface interface() const override {
      return {{}, {{"x", "", 1e-6, 1e6}}, {{"y", ""}}, {}, false};
    }
    void derivatives(double, Span x, Span, Out dxdt) override { dxdt[0] = std::cos(1e6 * x[0]); }
    void outputs(double, Span x, Span, Out y) override { y[0] = x[0]; }
  };
  const auto s = subsystem_of(std::make_unique<Nominal>(), of_size(IntegratorKind::erk));
  run(*s, 1e-3, 1);
  EXPECT_EQ(s->counters().micro_steps, 1);
}

TEST(Sizes, AGivenAbsoluteToleranceIsInTheStatesUnit) {
  SubsystemSettings settings = of_size(IntegratorKind::erk);
  settings.tolerance.of_size = false;
  settings.tolerance.absolute = 1e30;
  const auto s = subsystem_of({1.0, 0.0, 0.0, 0.0, 0.0}, 0, oscillator(), settings);
  run(*s, 1.0, 1);
  EXPECT_EQ(s->counters().micro_steps, 1);
}

TEST(Sizes, RepetitionsOfAFirstMacroStepGiveTheSameBits) {
  for (const auto kind : kinds) {
    const auto s = subsystem_of({1e-12, 0.0, 0.0, 0.0, 0.0}, 0, oscillator(), of_size(kind));
    s->start({0.0, 0.5}, 2.0);
    for (int n = 0; n < 4; ++n) {
      const MacroStep step{0.5 * n, 0.5 * (n + 1)};
      Sample first, again;
      s->save();
      ASSERT_EQ(s->advance(step, {}, InputContinuity::smooth, Wanted::values, {&first, 1}),
                Outcome::ok);
      s->restore();
      ASSERT_EQ(s->advance(step, {}, InputContinuity::smooth, Wanted::values, {&again, 1}),
                Outcome::ok);
      EXPECT_EQ(first.value, again.value) << static_cast<int>(kind) << ' ' << n;
    }
  }
}

}  // namespace sizes_test
}  // namespace concord::test
