#include <gtest/gtest.h>
#include <nvector/nvector_serial.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <algorithm>
#include <cmath>

#include "models.hpp"
#include "subsystem/ode/newton_solver.hpp"

namespace concord::test {
namespace stiff_test {

SubsystemSettings of_size(IntegratorKind kind, double rtol) {
  SubsystemSettings settings = settings_of(kind, rtol);
  settings.tolerance.of_size = true;
  return settings;
}

Outcome run(Subsystem& s, double end, int steps, InputContinuity continuity) {
  s.start({0.0, end / steps}, end);
  for (int n = 0; n < steps; ++n) {
    Sample y;
    if (s.advance({end * n / steps, end * (n + 1) / steps}, {}, continuity, Wanted::values,
                  {&y, 1}) == Outcome::failed)
      return Outcome::failed;
  }
  return Outcome::ok;
}

class Stiff : public ::testing::TestWithParam<IntegratorKind> {};

/// x' = -k (x - cos t) - sin t, x(0) = 0: x = cos t - exp(-k t).
TEST_P(Stiff, RelaxesOntoItsEquilibrium) {
  for (const double k : {1e4, 1e6, 1e8, 1e10, 1e12})
    for (const int steps : {10, 400}) {
      const auto f = [k](double t, Span x, Span, Out dxdt) {
        dxdt[0] = -k * (x[0] - std::cos(t)) - std::sin(t);
      };
      const auto s = subsystem_of({0.0}, 0, f, of_size(GetParam(), 1e-7));
      ASSERT_EQ(run(*s, 2.0, steps, InputContinuity::broken), Outcome::ok) << k << s->failure();
      EXPECT_NEAR(s->states()[0], std::cos(2.0), 1e-5) << k << ' ' << steps;
      RecordProperty(
          "f_" + std::to_string(static_cast<int>(std::log10(k))) + "_" + std::to_string(steps),
          static_cast<int>(s->counters().rhs_evaluations));
    }
}

/// A small mass held by a spring of 1e12 and a damper of 2e6 (critical) at a body that moves: it
/// follows, but for (100 x + x'') / 1e12.
TEST_P(Stiff, HardSpring) {
  const auto f = [](double, Span x, Span u, Out dxdt) {
    dxdt[0] = x[1];
    dxdt[1] = -100 * x[0] - 1e12 * (x[0] - u[0]) - 2e6 * (x[1] - u[1]);
  };
  const auto s = subsystem_of({1.0, 1.0}, 2, f, of_size(GetParam(), 1e-8));
  s->start({0.0, 0.01}, 1.0);
  for (int n = 0; n < 100; ++n) {
    const double t = 0.01 * n;  // x = 1 + t - t^2
    const Polynomial u[2] = {{{1 + t - t * t, 1 - 2 * t, -1, 0}}, {{1 - 2 * t, -2, 0, 0}}};
    Sample y;
    ASSERT_EQ(s->advance({t, 0.01 * (n + 1)}, u, InputContinuity::broken, Wanted::values, {&y, 1}),
              Outcome::ok)
        << n << s->failure();
    const double end = 0.01 * (n + 1);
    ASSERT_NEAR(y.value, 1 + end - end * end, 1e-6) << n;
  }
  RecordProperty("f", static_cast<int>(s->counters().rhs_evaluations));
}

TEST_P(Stiff, VanDerPolOnItsSlowManifold) {
  const auto f = [](double, Span x, Span, Out dxdt) {
    dxdt[0] = x[1];
    dxdt[1] = 1e3 * (1 - x[0] * x[0]) * x[1] - x[0];
  };
  const auto s = subsystem_of({2.0, -2.0 / 3e3}, 0, f, of_size(GetParam(), 1e-7));
  ASSERT_EQ(run(*s, 500.0, 500, InputContinuity::broken), Outcome::ok) << s->failure();
  const double x = s->states()[0];  // ln x - x^2/2 = const + t/mu up to 1/mu^2
  EXPECT_NEAR(std::log(x) - 0.5 * x * x, std::log(2.0) - 2.0 + 0.5, 1e-4);
  RecordProperty("f", static_cast<int>(s->counters().rhs_evaluations));
}

TEST_P(Stiff, Robertson) {
  const auto f = [](double, Span x, Span, Out dxdt) {
    dxdt[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
    dxdt[2] = 3e7 * x[1] * x[1];
    dxdt[1] = -dxdt[0] - dxdt[2];
  };
  for (const int steps : {1, 100}) {
    const auto s = subsystem_of({1.0, 0.0, 0.0}, 0, f, of_size(GetParam(), 1e-7));
    ASSERT_EQ(run(*s, 40.0, steps, InputContinuity::broken), Outcome::ok) << s->failure();
    EXPECT_NEAR(s->states()[0], 0.7158270688, 1e-5);  // CVODE's example cvRoberts_dns
    EXPECT_NEAR(s->states()[1], 9.185534765e-6, 1e-9);
    RecordProperty("f_" + std::to_string(steps), static_cast<int>(s->counters().rhs_evaluations));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Stiff,
                         ::testing::Values(IntegratorKind::dirk, IntegratorKind::automatic),
                         [](const auto& tested) {
                           return tested.param == IntegratorKind::dirk ? "dirk" : "automatic";
                         });

TEST(Failures, NameARemedy) {
  const auto f = [](double, Span x, Span, Out dxdt) { dxdt[0] = x[0] * x[0]; };
  const auto failure = [&](IntegratorKind kind) {
    const auto s = subsystem_of({1.0}, 0, f, of_size(kind, 1e-8));
    EXPECT_EQ(run(*s, 2.0, 1, InputContinuity::broken), Outcome::failed);
    return s->failure();
  };
  const auto names = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  for (const auto kind :
       {IntegratorKind::erk, IntegratorKind::cvode_bdf, IntegratorKind::cvode_adams}) {
    const std::string text = failure(kind);
    EXPECT_TRUE(names(text, "is inf at t = 1") || names(text, "-subsystem_s_integrator dirk"))
        << text;
  }
  EXPECT_FALSE(names(failure(IntegratorKind::dirk), "integrator dirk"));
  EXPECT_FALSE(names(failure(IntegratorKind::automatic), "integrator dirk"));
}

TEST(Dirk, OrderIsFour) {
  const auto error = [](int steps) {
    const auto f = [](double t, Span x, Span, Out dxdt) { dxdt[0] = std::sin(t) - x[0]; };
    SubsystemSettings settings = settings_of(IntegratorKind::dirk, 1e-2);
    const auto s = subsystem_of({1.0}, 0, f, settings);
    EXPECT_EQ(run(*s, 2.0, steps, InputContinuity::broken), Outcome::ok);
    EXPECT_EQ(s->counters().micro_steps, steps);
    return std::abs(s->states()[0] - 1.5 * std::exp(-2.0) - 0.5 * (std::sin(2.0) - std::cos(2.0)));
  };
  EXPECT_NEAR(std::log2(error(20) / error(40)), 4.0, 0.3);
}

/// x_i' = -x_i, many times, which the model knows.
class Diagonal final : public OdeModel, public SparseModel {
 public:
  static constexpr std::size_t n = ColumnPattern::fewest_states;

  OdeInterface interface() const override {
    OdeInterface result;
    for (std::size_t i = 0; i < n; ++i) result.states.push_back({"x" + std::to_string(i), "", 1.0});
    return result;
  }
  void derivatives(double, Span x, Span, Out dxdt) override {
    std::transform(x.begin(), x.end(), dxdt.begin(), [](double value) { return -value; });
  }
  void outputs(double, Span, Span, Out) override {}
  std::shared_ptr<const ColumnPattern> state_pattern() const override {
    auto pattern = std::make_shared<ColumnPattern>();
    for (std::int64_t i = 0; i <= std::int64_t{n}; ++i) pattern->begins.push_back(i);
    for (std::int64_t i = 0; i < std::int64_t{n}; ++i) pattern->rows.push_back(i);
    return pattern;
  }
  void state_entries(double, Span, Span, Out entries) override {
    std::fill(entries.begin(), entries.end(), -1.0);
  }
  std::shared_ptr<const LinearPattern> linear_pattern() const override { return nullptr; }
  void linear_entries(double, Span, Span, const Jacobians&) override {}
};

/// A shorter micro-step may have factors: no reason to give up, with sparse ones as with dense
/// ones.
TEST(SparseFactors, AskForAShorterMicroStepWhereTheyAreNotThere) {
  SUNContext native = nullptr;
  ASSERT_EQ(SUNContext_Create(nullptr, &native), 0);
  const sundials_handle::Context context(native);
  constexpr auto n = static_cast<sunindextype>(Diagonal::n);
  const sundials_handle::Vector b(N_VNew_Serial(n, context.get())), x(N_VClone(b.get()));
  const auto description = describe_ode("s", "native", Diagonal().interface());
  CheckedModel model(std::make_unique<Diagonal>(), description);
  RightHandSide rhs(model, Tolerance{});
  NewtonSolver solver(rhs, b.get(), context.get());
  std::vector<double> at(Diagonal::n, 1.0), f(Diagonal::n, -1.0);
  rhs.begin_step({0.0, 1.0}, {});
  N_VConst(3.0, b.get());
  for (const double pivot : {-1.0, 0.0, 0.0, -1.0, 0.0, -2.0}) {
    ASSERT_EQ(solver.fill(rhs, 0.0, at, f, solver.matrix()), 0);
    SM_DATA_S(solver.matrix())[7] = pivot;
    const int failure = SUNLinSolSetup(solver.native(), solver.matrix());
    if (pivot == 0.0) {
      EXPECT_GT(failure, 0);
      continue;
    }
    ASSERT_EQ(failure, 0);
    ASSERT_EQ(SUNLinSolSolve(solver.native(), solver.matrix(), x.get(), b.get(), 0.0), 0);
    EXPECT_EQ(NV_Ith_S(x.get(), 6), -3.0);
    EXPECT_EQ(NV_Ith_S(x.get(), 7), 3.0 / pivot);
  }
}

}  // namespace stiff_test
}  // namespace concord::test
