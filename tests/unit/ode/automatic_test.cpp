#include <gtest/gtest.h>

#include <cmath>

#include "models.hpp"

namespace concord::test {
namespace automatic_test {

void robertson(double, Span x, Span, Out dxdt) {
  dxdt[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
  dxdt[2] = 3e7 * x[1] * x[1];
  dxdt[1] = -dxdt[0] - dxdt[2];
}

LambdaModel::Function van_der_pol(double mu) {
  return [mu](double, Span x, Span, Out dxdt) {
    dxdt[0] = x[1];
    dxdt[1] = mu * (1 - x[0] * x[0]) * x[1] - x[0];
  };
}

void run(Subsystem& s, double end, int steps) {
  const double h = end / steps;
  s.start({0.0, h}, end);
  for (int n = 0; n < steps; ++n) {
    Sample y;
    ASSERT_EQ(s.advance({n * h, (n + 1) * h}, {}, InputContinuity::smooth, Wanted::values, {&y, 1}),
              Outcome::ok)
        << s.failure();
  }
}

std::int64_t cost(LambdaModel::Function f, std::vector<double> start, double end, int steps,
                  IntegratorKind kind) {
  const auto s = subsystem_of(std::move(start), 0, std::move(f), settings_of(kind, 1e-6));
  run(*s, end, steps);
  return s->counters().rhs_evaluations;
}

TEST(Automatic, Robertson) {
  SubsystemSettings settings = settings_of(IntegratorKind::automatic, 1e-6);
  settings.tolerance.absolute = 1e-10;
  const auto s = subsystem_of({1.0, 0.0, 0.0}, 0, robertson, settings);
  run(*s, 40.0, 100);
  EXPECT_NEAR(s->states()[0], 0.7158270688, 1e-5);  // CVODE's example cvRoberts_dns
  EXPECT_NEAR(s->states()[1], 9.185534765e-6, 1e-9);
  EXPECT_LT(s->counters().rhs_evaluations, 100 * 60);
}

TEST(Automatic, VanDerPolWithMuAMillion) {
  const auto s =
      subsystem_of({2.0, 0.0}, 0, van_der_pol(1e6), settings_of(IntegratorKind::automatic, 1e-6));
  run(*s, 2000.0, 1000);
  // Slow manifold: ln x - x^2/2 = const - t/mu.
  const double x = s->states()[0];
  EXPECT_NEAR(std::log(x) - 0.5 * x * x, std::log(2.0) - 2.0 + 2000.0 / 1e6, 1e-4);
  EXPECT_LT(s->counters().rhs_evaluations, 1000 * 40);
}

TEST(Automatic, VanDerPolThroughItsJumps) {
  const auto s =
      subsystem_of({2.0, 0.0}, 0, van_der_pol(1e3), settings_of(IntegratorKind::automatic, 1e-6));
  run(*s, 3000.0, 300);
  EXPECT_LT(s->counters().rhs_evaluations, 300 * 100);
  const auto reference =
      subsystem_of({2.0, 0.0}, 0, van_der_pol(1e3), settings_of(IntegratorKind::cvode_bdf, 1e-9));
  run(*reference, 3000.0, 300);
  EXPECT_NEAR(s->states()[0], reference->states()[0], 1e-2);
}

TEST(Automatic, StiffCostsLittleMoreThanBdf) {
  const auto bdf = cost(van_der_pol(1e3), {2.0, 0.0}, 800.0, 400, IntegratorKind::cvode_bdf);
  const auto automatic = cost(van_der_pol(1e3), {2.0, 0.0}, 800.0, 400, IntegratorKind::automatic);
  EXPECT_LT(automatic, bdf + bdf / 5 + 2000);
}

TEST(Automatic, NonStiffCostsAsMuchAsErk) {
  const auto orbit = [](double, Span x, Span, Out dxdt) {
    dxdt[0] = x[1];
    dxdt[1] = -x[0];
  };
  for (const int steps : {4000, 200, 40}) {  // one to many micro-steps per macro-step
    const auto erk = cost(orbit, {1.0, 0.0}, 400.0, steps, IntegratorKind::erk);
    const auto automatic = cost(orbit, {1.0, 0.0}, 400.0, steps, IntegratorKind::automatic);
    EXPECT_LE(automatic, erk + erk / 5) << steps;
  }
}

TEST(Automatic, GoesBackToErk) {
  // Stiff until t = 10, then not.
  const auto f = [](double t, Span x, Span, Out dxdt) {
    dxdt[0] = t < 10 ? -1e5 * (x[0] - std::cos(t)) : -x[0];
  };
  const auto s = subsystem_of({1.0}, 0, f, settings_of(IntegratorKind::automatic, 1e-9));
  s->start({0.0, 0.1}, 100.0);
  std::int64_t before = 0;
  for (int n = 0; n < 1000; ++n) {
    Sample y;
    ASSERT_EQ(
        s->advance({0.1 * n, 0.1 * (n + 1)}, {}, InputContinuity::broken, Wanted::values, {&y, 1}),
        Outcome::ok);
    if (n == 800) before = s->counters().rhs_evaluations;
  }
  EXPECT_LE(s->counters().rhs_evaluations - before, 200 * 8);
}

TEST(Automatic, RollbackCoversTheChoice) {
  const auto s =
      subsystem_of({1.0, 0.0, 0.0}, 0, robertson, settings_of(IntegratorKind::automatic, 1e-6));
  s->start({0.0, 0.4}, 40.0);
  for (int n = 0; n < 100; ++n) {
    const MacroStep step{0.4 * n, 0.4 * (n + 1)};
    Sample first, y;
    s->save();
    ASSERT_EQ(s->advance(step, {}, InputContinuity::smooth, Wanted::values, {&first, 1}),
              Outcome::ok);
    for (int i = 0; i < 3; ++i) {
      s->restore();
      ASSERT_EQ(s->advance(step, {}, InputContinuity::smooth, Wanted::values, {&y, 1}),
                Outcome::ok);
      EXPECT_EQ(y.value, first.value) << n;
    }
  }
}

}  // namespace automatic_test
}  // namespace concord::test
