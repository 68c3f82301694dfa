#include <gtest/gtest.h>

#include <cmath>

#include "models.hpp"

namespace concord::test {
namespace rollback_test {

constexpr IntegratorKind kinds[] = {IntegratorKind::erk, IntegratorKind::dirk,
                                    IntegratorKind::cvode_bdf, IntegratorKind::cvode_adams,
                                    IntegratorKind::automatic};

/// Growth that saturates at 1, pushed by u, and a state that starts at 0.
void latch(double, Span x, Span u, Out dxdt) {
  dxdt[0] = 200.0 * x[0] * (1.0 - x[0]) + u[0];
  dxdt[1] = x[0] - x[1];
}

SubsystemSettings of_size(IntegratorKind kind) {
  SubsystemSettings settings = settings_of(kind, 1e-8);
  settings.tolerance.of_size = true;
  return settings;
}

constexpr double h = 0.02;

std::vector<double> advanced(Subsystem& s, int n, double u) {
  const Polynomial input{{u, 0.0, 0.0, 0.0}};
  Sample y;
  EXPECT_EQ(s.advance({n * h, (n + 1) * h}, {&input, 1}, InputContinuity::broken,
                      Wanted::values_and_derivatives, {&y, 1}),
            Outcome::ok)
      << s.failure();
  return {s.states().begin(), s.states().end()};
}

/// Trials with inputs that are far off, and looks at points where they would lead, leave nothing
/// behind: neither in sizes and rounding floors nor in integrators.
TEST(Rollback, AWildTrialLeavesNothingBehind) {
  for (const auto kind : kinds) {
    const auto calm = subsystem_of({1e-4, 0.0}, 1, latch, of_size(kind));
    const auto tried = subsystem_of({1e-4, 0.0}, 1, latch, of_size(kind));
    for (const auto& s : {calm.get(), tried.get()}) s->start({0.0, h}, 1.0);
    for (int n = 0; n < 5; ++n) {
      calm->save();
      advanced(*calm, n, 0.0);
      calm->restore();
      const auto expected = advanced(*calm, n, 1e-3);
      tried->save();
      advanced(*tried, n, 1e6);
      tried->restore();
      const Sample wild{1e15, 0.0};
      const double far[] = {1e9, 1e9};
      double f[2];
      Sample y;
      tried->derivatives_at({(n + 1) * h, h, far, {&wild, 1}}, f);
      tried->outputs_at({(n + 1) * h, h, far, {&wild, 1}}, {&y, 1});
      Linearization l;
      const Sample u{1e-3, 0.0};
      tried->linearize({&u, 1}, l);
      tried->derivatives_at({(n + 1) * h, h, far, {&wild, 1}}, f);
      const auto found = advanced(*tried, n, 1e-3);
      for (std::size_t i = 0; i < 2; ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-6 * std::abs(expected[i]))
            << static_cast<int>(kind) << ' ' << n << ' ' << i;
    }
  }
}

/// The same calls after a restore give the same bits, however often.
TEST(Rollback, RepetitionsGiveTheSameBits) {
  for (const auto kind : kinds) {
    const auto s = subsystem_of({1e-4, 0.0}, 1, latch, of_size(kind));
    s->start({0.0, h}, 1.0);
    for (int n = 0; n < 5; ++n) {
      s->save();
      const auto first = advanced(*s, n, 1e-3);
      s->restore();
      advanced(*s, n, 10.0);
      s->restore();
      const auto second = advanced(*s, n, 1e-3);
      s->restore();
      EXPECT_EQ(advanced(*s, n, 1e-3), second) << static_cast<int>(kind) << ' ' << n;
      EXPECT_NEAR(first[0], second[0], 1e-6);
    }
  }
}

}  // namespace rollback_test
}  // namespace concord::test
