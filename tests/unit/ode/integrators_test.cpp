#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "models.hpp"

namespace concord::test {
namespace integrators_test {

/// One suite over all integrators.
class Integrators : public ::testing::TestWithParam<IntegratorKind> {
 protected:
  SubsystemSettings settings(double rtol = 1e-8) const { return settings_of(GetParam(), rtol); }
};

constexpr std::array<double, 4> cubic{0.3, -0.2, 0.5, 0.1};

/// x' = -x + cubic(t), x(0) = 1: particular solution p with p + p' = cubic.
double lag_solution(double t) {
  const double d = cubic[3], c = cubic[2] - 3 * d, b = cubic[1] - 2 * c, a = cubic[0] - b;
  return a + t * (b + t * (c + t * d)) + (1.0 - a) * std::exp(-t);
}

double lag_error(const SubsystemSettings& settings, InputContinuity continuity, int steps) {
  const auto s = subsystem_of({1.0}, 1, lag, settings);
  const double h = 2.0 / steps;
  s->start({0.0, h}, 2.0);
  double error = 0.0;
  for (int n = 0; n < steps; ++n) {
    const Polynomial u = shifted(cubic, n * h);
    Sample y;
    EXPECT_EQ(s->advance({n * h, (n + 1) * h}, {&u, 1}, continuity, Wanted::values_and_derivatives,
                         {&y, 1}),
              Outcome::ok);
    const double x = lag_solution((n + 1) * h);
    error = std::max(error, std::abs(y.value - x));
    EXPECT_NEAR(y.derivative, -y.value + shifted(cubic, (n + 1) * h)(0.0), 1e-9 / h * 1e-2);
  }
  return error;
}

TEST_P(Integrators, ErrorFollowsTolerance) {
  for (const int steps : {1, 7, 100})
    for (const double rtol : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
      EXPECT_LT(lag_error(settings(rtol), InputContinuity::broken, steps), 400 * rtol)
          << steps << ' ' << rtol;
      EXPECT_LT(lag_error(settings(rtol), InputContinuity::smooth, steps), 400 * rtol)
          << steps << ' ' << rtol;
    }
}

TEST_P(Integrators, LargeAbsoluteTime) {
  const auto s = subsystem_of({1.0}, 1, lag, settings(1e-10));
  const double begin = 1e6, h = 1e-6;
  s->start({begin, begin + h}, begin + 1.0);
  double x = 1.0;
  for (int n = 0; n < 200; ++n) {
    const MacroStep step{begin + n * h, begin + (n + 1) * h};
    const Polynomial u{{2.0, 3.0e5, 0.0, 0.0}};  // 2 to 2.3 over the macro-step
    Sample y;
    ASSERT_EQ(
        s->advance(step, {&u, 1}, InputContinuity::broken, Wanted::values_and_derivatives, {&y, 1}),
        Outcome::ok);
    const double size = step.size();
    x += size * (-x + 2.0 + 0.5 * 3.0e5 * size);  // error h^2 per step
    EXPECT_NEAR(y.value, x, 5e-8);
    EXPECT_NEAR(y.derivative * h, (-y.value + u(size)) * h, 1e-12);
  }
}

TEST_P(Integrators, ManyStates) {
  constexpr std::size_t n = 300;
  const auto heat = [](double, Span x, Span u, Out dxdt) {
    for (std::size_t i = 0; i < n; ++i) {
      const double left = i == 0 ? u[0] : x[i - 1], right = i + 1 == n ? 0.0 : x[i + 1];
      dxdt[i] = left - 2 * x[i] + right;
    }
  };
  const auto s = subsystem_of(std::vector<double>(n, 0.0), 1, heat, settings(1e-6));
  s->start({0.0, 0.5}, 5.0);
  const Polynomial u{{1.0, 0.0, 0.0, 0.0}};
  Sample y;
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(s->advance({0.5 * i, 0.5 * (i + 1)}, {&u, 1},
                         i == 0 ? InputContinuity::broken : InputContinuity::smooth, Wanted::values,
                         {&y, 1}),
              Outcome::ok)
        << s->failure();
  RecordProperty("f", static_cast<int>(s->counters().rhs_evaluations));
  // Half-space: x_0(5) = 1 - exp(-10) (I_0(10) + I_1(10)) (Bessel functions).
  const double expected =
      1 - std::exp(-10.0) * (std::cyl_bessel_i(0.0, 10.0) + std::cyl_bessel_i(1.0, 10.0));
  EXPECT_NEAR(y.value, expected, 1e-4);
}

/// A nonlinear subsystem with a trace of everything it gives, bit by bit.
class Pendulum {
 public:
  explicit Pendulum(const SubsystemSettings& settings)
      : subsystem_(subsystem_of(
            {1.0, 0.0}, 1,
            [](double t, Span x, Span u, Out dxdt) {
              if (std::abs(u[0]) > 1e3) throw RecoverableFailure("torque out of range");
              dxdt[0] = x[1];
              dxdt[1] = -9.81 * std::sin(x[0]) - 0.3 * x[1] + u[0] + 0.1 * std::sin(3 * t);
            },
            settings)) {
    subsystem_->start({0.0, 0.1}, 10.0);
  }

  Outcome advance(int n, const Polynomial& u, double h = 0.1) {
    return subsystem_->advance({0.1 * n, 0.1 * n + h}, {&u, 1},
                               n == 0 ? InputContinuity::broken : InputContinuity::smooth,
                               Wanted::values_and_derivatives, {&y_, 1});
  }
  std::array<double, 4> bits() const {
    const auto x = subsystem_->states();
    return {x[0], x[1], y_.value, y_.derivative};
  }
  Subsystem& operator*() { return *subsystem_; }

 private:
  std::unique_ptr<Subsystem> subsystem_;
  Sample y_;
};

bool same(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  return std::memcmp(a.data(), b.data(), sizeof a) == 0;
}

TEST_P(Integrators, SameBitsAfterRollback) {
  Pendulum p(settings());
  const Polynomial good{{0.2, 1.0, -3.0, 2.0}}, other{{40.0, -3.0, 100.0, 0.0}};
  const Polynomial failing{{0.0, 1e7, 0.0, 0.0}};
  for (int n = 0; n < 20; ++n) {
    (*p).save();
    const int next = n;
    ASSERT_EQ(p.advance(next, good), Outcome::ok);
    const auto first = p.bits();
    (*p).restore();
    ASSERT_EQ(p.advance(next, good), Outcome::ok);
    EXPECT_TRUE(same(first, p.bits())) << n << ": at once";
    (*p).restore();
    ASSERT_EQ(p.advance(next, other), Outcome::ok);
    ASSERT_EQ(p.advance(next + 1, other), Outcome::ok);
    (*p).restore();
    ASSERT_EQ(p.advance(next, good), Outcome::ok);
    EXPECT_TRUE(same(first, p.bits())) << n << ": after other inputs";
    (*p).restore();
    ASSERT_EQ(p.advance(next, failing), Outcome::failed);
    (*p).restore();
    ASSERT_EQ(p.advance(next, good, 0.03), Outcome::ok);
    (*p).restore();
    ASSERT_EQ(p.advance(next, good), Outcome::ok);
    EXPECT_TRUE(same(first, p.bits())) << n << ": after a failure and another size";
  }
}

TEST_P(Integrators, TwoRunsGiveTheSameBits) {
  Pendulum a(settings()), b(settings());
  const Polynomial u{{0.2, 1.0, -3.0, 2.0}};
  for (int n = 0; n < 20; ++n) {
    ASSERT_EQ(a.advance(n, u), Outcome::ok);
    ASSERT_EQ(b.advance(n, u), Outcome::ok);
    EXPECT_TRUE(same(a.bits(), b.bits()));
  }
}

TEST_P(Integrators, SavingChangesResultsWithinTheToleranceOnly) {
  Pendulum saving(settings()), continuing(settings());
  const Polynomial u{{0.2, 0.0, 0.0, 0.0}};
  for (int n = 0; n < 20; ++n) {
    (*saving).save();
    ASSERT_EQ(saving.advance(n, u), Outcome::ok);
    ASSERT_EQ(continuing.advance(n, u), Outcome::ok);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(saving.bits()[i], continuing.bits()[i], 2e-6);
  }
}

TEST_P(Integrators, AgreesWithTightErk) {
  Pendulum tested(settings(1e-7)), reference(settings_of(IntegratorKind::erk, 1e-13));
  for (int n = 0; n < 30; ++n) {
    const Polynomial u = shifted({0.2, 1.0, -0.5, 0.1}, 0.1 * n);
    ASSERT_EQ(tested.advance(n, u), Outcome::ok);
    ASSERT_EQ(reference.advance(n, u), Outcome::ok);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(tested.bits()[i], reference.bits()[i], 2e-5);
  }
}

TEST_P(Integrators, CountersAreNotRolledBack) {
  Pendulum p(settings());
  (*p).save();
  ASSERT_EQ(p.advance(0, {}), Outcome::ok);
  const Counters before = (*p).counters();
  EXPECT_EQ(before.advances, 1);
  EXPECT_GT(before.rhs_evaluations, 0);
  EXPECT_GT(before.micro_steps, 0);
  (*p).restore();
  EXPECT_EQ((*p).counters().rhs_evaluations, before.rhs_evaluations);
  ASSERT_EQ(p.advance(0, {}), Outcome::ok);
  EXPECT_EQ((*p).counters().advances, 2);
  EXPECT_GT((*p).counters().micro_steps, before.micro_steps);
}

Outcome advance_alone(Subsystem& s, double begin, double end, double u = 0.0) {
  const Polynomial input{{u, 0.0, 0.0, 0.0}};
  Sample y;
  const std::size_t n_in = s.description().inputs.size();
  return s.advance({begin, end}, {&input, n_in}, InputContinuity::broken, Wanted::values, {&y, 1});
}

TEST_P(Integrators, InfiniteDerivativeIsAFailureWithNameTimeAndValue) {
  const auto s = subsystem_of(
      {1.0}, 0, [](double t, Span, Span, Out dxdt) { dxdt[0] = t > 0.25 ? INFINITY : 1.0; },
      settings());
  s->start({0.0, 0.5}, 1.0);
  s->save();
  EXPECT_EQ(advance_alone(*s, 0.0, 0.5), Outcome::failed);
  EXPECT_NE(s->failure().find("derivative of state 'x0' is inf at t = 0.2"), std::string::npos)
      << s->failure();
  s->restore();
  EXPECT_EQ(s->states()[0], 1.0);
  EXPECT_EQ(advance_alone(*s, 0.0, 0.2), Outcome::ok);
  EXPECT_NEAR(s->states()[0], 1.2, 1e-8);
}

TEST_P(Integrators, NanAtTheBeginIsAFailure) {
  const auto s = subsystem_of(
      {-1.0}, 0, [](double, Span x, Span, Out dxdt) { dxdt[0] = std::sqrt(x[0]); }, settings());
  s->start({2.0, 3.0}, 9.0);
  EXPECT_EQ(advance_alone(*s, 2.0, 3.0), Outcome::failed);
  EXPECT_NE(s->failure().find("derivative of state 'x0' is nan at t = 2"), std::string::npos)
      << s->failure();
}

TEST_P(Integrators, LeavingTheDomainWithinAStepIsCuredBySmallerSteps) {
  // x' = -sqrt(x), x(0) = 1: x = (1 - t/2)^2; a large first stage sees x < 0.
  const auto s = subsystem_of(
      {1.0}, 0,
      [](double, Span x, Span, Out dxdt) {
        if (x[0] < 0) throw RecoverableFailure("negative");
        dxdt[0] = -std::sqrt(x[0]);
      },
      settings(1e-6));
  s->start({0.0, 1.9}, 2.0);
  ASSERT_EQ(advance_alone(*s, 0.0, 1.9), Outcome::ok) << s->failure();
  EXPECT_NEAR(s->states()[0], 0.0025, 1e-5);
}

TEST_P(Integrators, RecoverableFailureKeepsItsText) {
  const auto s = subsystem_of(
      {1.0}, 0, [](double, Span, Span, Out) { throw RecoverableFailure("the tank is empty"); },
      settings());
  s->start({0.0, 1.0}, 1.0);
  EXPECT_EQ(advance_alone(*s, 0.0, 1.0), Outcome::failed);
  EXPECT_EQ(s->failure(), "the tank is empty at t = 0 s");
}

TEST_P(Integrators, OtherExceptionsPassAndLeaveTheSubsystemUsable) {
  bool fail = true;
  const auto s = subsystem_of(
      {1.0}, 0,
      [&fail](double t, Span x, Span, Out dxdt) {
        if (fail && t > 0.1) throw std::out_of_range("table");
        dxdt[0] = -x[0];
      },
      settings());
  s->start({0.0, 1.0}, 1.0);
  s->save();
  EXPECT_THROW(advance_alone(*s, 0.0, 1.0), std::out_of_range);
  fail = false;
  s->restore();
  ASSERT_EQ(advance_alone(*s, 0.0, 1.0), Outcome::ok);
  EXPECT_NEAR(s->states()[0], std::exp(-1.0), 1e-6);
}

TEST_P(Integrators, ExplosionIsAFailure) {
  const auto s = subsystem_of(
      {1.0}, 0, [](double, Span x, Span, Out dxdt) { dxdt[0] = x[0] * x[0]; }, settings());
  s->start({0.0, 2.0}, 2.0);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(advance_alone(*s, 0.0, 2.0), Outcome::failed);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_NE(s->failure().find("at t = "), std::string::npos) << s->failure();
}

INSTANTIATE_TEST_SUITE_P(All, Integrators,
                         ::testing::Values(IntegratorKind::erk, IntegratorKind::dirk,
                                           IntegratorKind::cvode_bdf, IntegratorKind::cvode_adams,
                                           IntegratorKind::automatic),
                         [](const auto& tested) {
                           switch (tested.param) {
                             case IntegratorKind::erk:
                               return "erk";
                             case IntegratorKind::dirk:
                               return "dirk";
                             case IntegratorKind::cvode_bdf:
                               return "cvode_bdf";
                             case IntegratorKind::cvode_adams:
                               return "cvode_adams";
                             default:
                               return "automatic";
                           }
                         });

TEST(Erk, SmallMacroStepsCostOneMicroStepAndSixEvaluations) {
  const auto s = subsystem_of({1.0}, 1, lag, settings_of(IntegratorKind::erk));
  s->start({0.0, 1e-3}, 1.0);
  for (int n = 0; n < 1000; ++n)
    ASSERT_EQ(advance_alone(*s, n * 1e-3, (n + 1) * 1e-3), Outcome::ok);
  EXPECT_EQ(s->counters().micro_steps, 1000);
  EXPECT_LE(s->counters().rhs_evaluations, 7 * 1000 + 1);
}

TEST(Cvode, ContinuesOnlyWhenAllowed) {
  const auto cost = [](bool continuation, bool saving) {
    SubsystemSettings settings = settings_of(IntegratorKind::cvode_adams);
    settings.continuation = continuation;
    Pendulum p(settings);
    for (int n = 0; n < 50; ++n) {
      if (saving) (*p).save();
      EXPECT_EQ(p.advance(n, {}), Outcome::ok);
    }
    return (*p).counters().rhs_evaluations;
  };
  EXPECT_LT(cost(true, false), cost(false, false) / 2);
  EXPECT_EQ(cost(true, true), cost(true, false));
}

}  // namespace integrators_test
}  // namespace concord::test
