#include <gtest/gtest.h>

#include <cmath>

#include "models.hpp"
#include "subsystem/ode/point_derivatives.hpp"

namespace concord::test {
namespace point_test {

/// Nonlinear in everything, with exact Jacobians on request.
std::unique_ptr<LambdaModel> nonlinear(bool exact) {
  auto model = std::make_unique<LambdaModel>(
      std::vector<double>{0.7, -1.3}, 2, 2,
      [](double t, Span x, Span u, Out dxdt) {
        dxdt[0] = std::sin(x[0]) * x[1] + u[0] * u[0];
        dxdt[1] = std::exp(-x[0]) + x[1] * u[1] + std::cos(2 * t);
      },
      [](double t, Span x, Span u, Out y) {
        y[0] = x[0] * x[0] * u[1] + std::sin(t);
        y[1] = std::cos(x[1]) + u[0] * x[0];
      });
  if (exact)
    model->exact = [](double, Span x, Span u, const Jacobians& j) {
      const double f_x[] = {std::cos(x[0]) * x[1], std::sin(x[0]), -std::exp(-x[0]), u[1]};
      const double f_u[] = {2 * u[0], 0.0, 0.0, x[1]};
      const double g_x[] = {2 * x[0] * u[1], 0.0, u[0], -std::sin(x[1])};
      const double g_u[] = {0.0, x[0] * x[0], x[0], 0.0};
      std::copy(f_x, f_x + 4, j.f_x.begin());
      std::copy(f_u, f_u + 4, j.f_u.begin());
      std::copy(g_x, g_x + 4, j.g_x.begin());
      std::copy(g_u, g_u + 4, j.g_u.begin());
    };
  return model;
}

constexpr double begin = 3.0, h = 0.01;
const std::vector<Sample> inputs{{0.4, -1.5}, {1.1, 2.0}};

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

TEST(Point, LinearizeByDifferencesAgreesWithExactJacobians) {
  const auto exact = subsystem_of(nonlinear(true), {}),
             quotients = subsystem_of(nonlinear(false), {});
  Linearization a, b;
  for (Subsystem* s : {exact.get(), quotients.get()}) s->start({begin, begin + h}, 9.0);
  ASSERT_EQ(exact->linearize(inputs, a), Outcome::ok);
  ASSERT_EQ(quotients->linearize(inputs, b), Outcome::ok);
  expect_near(a.f_x, b.f_x, 1e-9);
  expect_near(a.f_u, b.f_u, 1e-9);
  expect_near(a.g_x, b.g_x, 1e-9);
  expect_near(a.g_u, b.g_u, 1e-9);
  EXPECT_EQ(a.f, b.f);
  EXPECT_EQ(a.g, b.g);
  expect_near(b.f_t, {0.0, -2 * std::sin(2 * begin)}, 1e-8);
  expect_near(b.g_t, {std::cos(begin), 0.0}, 1e-8);
  EXPECT_DOUBLE_EQ(a.f_x[0], std::cos(0.7) * -1.3);
}

TEST(Point, OutputDerivativesByBothWays) {
  for (const double t : {3.0, 1e6}) {
    const double x0 = 0.7, x1 = -1.3;
    const double f0 = std::sin(x0) * x1 + 0.16, f1 = std::exp(-x0) + x1 * 1.1 + std::cos(2 * t);
    const double y0 = 2 * x0 * f0 * 1.1 + x0 * x0 * 2.0 + std::cos(t);
    const double y1 = -std::sin(x1) * f1 + -1.5 * x0 + 0.4 * f0;
    for (const bool exact : {false, true}) {
      const auto s = subsystem_of(nonlinear(exact), {});
      s->start({t, t + h}, 2e6);
      Sample y[2];
      ASSERT_EQ(s->point_outputs(inputs, Wanted::values_and_derivatives, y), Outcome::ok);
      // sin(t) itself carries eps t, which h/1000 divides.
      const double tolerance = (1e-11 + (t > 10 ? 1e-16 * 1e3 : 0.0)) / h;
      EXPECT_NEAR(y[0].derivative, y0, tolerance) << t << exact;
      EXPECT_NEAR(y[1].derivative, y1, tolerance) << t << exact;
    }
  }
}

/// As behind the last completed step of an FMU: central differences of y' fit, those in time in it
/// are one-sided.
TEST(Point, OutputCurvaturesCloseBehindAnIntervalsBegin) {
  const auto make = [] {
    auto model = std::make_unique<LambdaModel>(
        std::vector<double>{0.7}, 1, 1, [](double, Span x, Span, Out dxdt) { dxdt[0] = -x[0]; },
        [](double t, Span x, Span u, Out y) { y[0] = x[0] * u[0] + std::sin(t); });
    model->exact = [](double, Span x, Span u, const Jacobians& j) {
      j.f_x[0] = -1.0, j.f_u[0] = 0.0, j.g_x[0] = u[0], j.g_u[0] = x[0];
    };
    return model;
  };
  const SubsystemDescription description = describe_ode("s", "native", make()->interface());
  CheckedModel model(make(), description);
  const double x[] = {0.7};
  const Sample u{0.4, -1.5, 2.5};
  for (const double behind : {1e-9, 0.251 * h, 0.26 * h, 0.3 * h, 0.6 * h, h}) {
    model.enter({begin - behind, begin + 1.0});
    LearntDerivatives learnt;
    PointDerivatives derivatives(model, learnt);
    double result = 0.0;
    ASSERT_TRUE(derivatives.output_curvatures(begin, h, x, {&u, 1}, {&result, 1}));
    EXPECT_NEAR(result, 0.7 * 0.4 + 2.0 * 0.7 * 1.5 + 0.7 * 2.5 - std::sin(begin), 1e-6) << behind;
  }
}

TEST(Point, OutputDerivativeAtTheEdgeOfTheDomain) {
  const auto root = [](double, Span x, Span, Out y) { y[0] = std::pow(x[0], 1.5); };
  for (const double slope : {1.0, -1.0}) {
    const auto s = subsystem_of(
        {0.0}, 0, [slope](double, Span, Span, Out dxdt) { dxdt[0] = slope; }, {}, root);
    s->start({0.0, 0.1}, 1.0);
    Sample y;
    ASSERT_EQ(s->point_outputs({}, Wanted::values_and_derivatives, {&y, 1}), Outcome::ok);
    EXPECT_NEAR(y.derivative, 0.0, 0.02);
  }
}

TEST(Point, ConstantOutputsHaveExactlyNoDerivative) {
  const auto s = subsystem_of({1.0}, 1, lag, {}, [](double, Span, Span, Out y) { y[0] = 0.1; });
  s->start({0.0, 0.1}, 1.0);
  const Sample u{1.0, 2.0};
  Sample y;
  ASSERT_EQ(s->point_outputs({&u, 1}, Wanted::values_and_derivatives, {&y, 1}), Outcome::ok);
  EXPECT_EQ(y.derivative, 0.0);
}

TEST(Point, NoStates) {
  const auto s = subsystem_of(
      {}, 1, [](double, Span, Span, Out) {}, {},
      [](double, Span, Span u, Out y) { y[0] = u[0] * u[0]; });
  s->start({0.0, 0.5}, 1.0);
  const Polynomial u{{1.0, 2.0, 0.0, 0.0}};
  Sample y;
  s->save();
  ASSERT_EQ(s->advance({0.0, 0.5}, {&u, 1}, InputContinuity::broken, Wanted::values_and_derivatives,
                       {&y, 1}),
            Outcome::ok);
  EXPECT_DOUBLE_EQ(y.value, 4.0);
  EXPECT_NEAR(y.derivative, 8.0, 1e-10);
  EXPECT_TRUE(s->states().empty());
  s->restore();
  Linearization l;
  const Sample at{3.0, 0.0};
  ASSERT_EQ(s->linearize({&at, 1}, l), Outcome::ok);
  ASSERT_EQ(l.g_u.size(), 1U);
  EXPECT_NEAR(l.g_u[0], 6.0, 1e-9);
}

TEST(Point, BadOutputIsNamed) {
  const auto s = subsystem_of(
      {1.0}, 0, [](double, Span, Span, Out dxdt) { dxdt[0] = 0.0; }, {},
      [](double t, Span, Span, Out y) { y[0] = t > 0.3 ? NAN : 1.0; });
  s->start({0.0, 0.5}, 1.0);
  Sample y;
  s->save();
  EXPECT_EQ(s->advance({0.0, 0.5}, {}, InputContinuity::broken, Wanted::values, {&y, 1}),
            Outcome::failed);
  EXPECT_EQ(s->failure(), "output 'y0' is nan at t = 0.5 s");
  s->restore();
  EXPECT_EQ(s->point_outputs({}, Wanted::values, {&y, 1}), Outcome::ok);
}

TEST(Point, StateDerivatives) {
  const auto s = subsystem_of({2.0}, 1, lag, {});
  s->start({0.0, 0.5}, 1.0);
  const Sample u{5.0, 0.0};
  double f = 0.0;
  ASSERT_EQ(s->state_derivatives({&u, 1}, {&f, 1}), Outcome::ok);
  EXPECT_EQ(f, 3.0);
}

TEST(Description, FeedthroughIsCompleteOrAsGiven) {
  OdeInterface interface;
  interface.inputs = {{"a", "", {}}, {"b", "", {}}};
  interface.outputs = {{"y", ""}};
  EXPECT_EQ(describe_ode("s", "k", interface).feedthrough.size(), 2U);
  interface.feedthrough.emplace();
  const auto none = describe_ode("s", "k", interface);
  EXPECT_TRUE(none.feedthrough.empty());
  EXPECT_EQ(none.name, "s");
  EXPECT_EQ(none.kind, "k");
}

TEST(Description, WithheldCapabilities) {
  SubsystemSettings settings;
  const auto all = subsystem_of({1.0}, 1, lag, settings)->description().capabilities;
  EXPECT_TRUE(all.rollback && all.linearization && all.equations && all.states &&
              all.state_derivatives && all.point_outputs && all.output_derivatives &&
              all.polynomial_inputs);
  settings.rollback = settings.linearization = false;
  const auto s = subsystem_of({1.0}, 1, lag, settings);
  EXPECT_FALSE(s->description().capabilities.rollback);
  EXPECT_FALSE(s->description().capabilities.linearization);
  EXPECT_TRUE(s->description().capabilities.states);
  EXPECT_NE(s->equations(), nullptr);
}

TEST(Description, StartsOnceAndWantsPositiveTolerances) {
  const auto s = subsystem_of({1.0}, 1, lag, {});
  s->start({0.0, 0.5}, 1.0);
  EXPECT_THROW(s->start({0.0, 0.5}, 1.0), std::logic_error);
  SubsystemSettings settings;
  settings.tolerance.relative = 0.0;
  EXPECT_THROW(subsystem_of({1.0}, 1, lag, settings), InputError);
}

TEST(Point, StencilsStayBetweenEvents) {
  for (const double gap : {1e-2, 7e-5, 1e-8}) {
    for (const bool at_the_end : {false, true}) {
      const SmoothInterval interval{begin, begin + gap};
      const auto s = subsystem_of(
          {2.0}, 0,
          [=](double t, Span x, Span, Out dxdt) {
            ASSERT_GE(t, interval.from);
            ASSERT_LT(t, interval.until);
            dxdt[0] = std::cos(t) - x[0];
          },
          settings_of(IntegratorKind::erk),
          [=](double t, Span x, Span, Out y) {
            ASSERT_GE(t, interval.from);
            ASSERT_LT(t, interval.until);
            y[0] = x[0] * std::sin(t);
          });
      const double t = at_the_end ? interval.until : interval.from;
      s->enter(interval);
      s->start({t, t + h}, 9.0);
      Sample y;
      ASSERT_EQ(s->point_outputs({}, Wanted::values_and_derivatives, {&y, 1}), Outcome::ok);
      const double slope = 2.0 * std::cos(t) + (std::cos(t) - 2.0) * std::sin(t);
      const double rounding = 1e-14 / std::min(1e-5, gap / 4);
      EXPECT_NEAR(y.derivative, slope, 1e-9 + rounding) << gap << at_the_end;
      Linearization l;
      ASSERT_EQ(s->linearize({}, l), Outcome::ok);
      EXPECT_NEAR(l.f_t[0], -std::sin(t), 1e-8 + rounding) << gap << at_the_end;
      EXPECT_NEAR(l.g_t[0], 2.0 * std::cos(t), 1e-8 + rounding) << gap << at_the_end;
    }
  }
}

TEST(Point, SlopesOfInputsThatHaveAlwaysBeenZero) {
  const auto s = subsystem_of(
      {1.0}, 4, [](double, Span, Span u, Out dxdt) { dxdt[0] = 1e5 + u[0] + 1e-4 * u[1]; },
      settings_of(IntegratorKind::erk),
      [](double, Span, Span u, Out y) {
        y[0] = std::sin(u[2] / 1e-12);
        y[1] = 3.0 + 1e-10 * u[1] + u[3] * u[3];
      },
      2);
  s->start({0.0, 0.1}, 1.0);
  const std::vector<Sample> zero(4);
  Linearization l;
  for (int call = 0; call < 2; ++call) {
    ASSERT_EQ(s->linearize(zero, l), Outcome::ok);
    EXPECT_NEAR(l.f_u[0], 1.0, 1e-5);
    EXPECT_NEAR(l.f_u[1], 1e-4, 1e-9);
    EXPECT_NEAR(l.g_u[2], 1e12, 1e7);
    EXPECT_NEAR(l.g_u[5], 1e-10, 1e-14);
    EXPECT_EQ(l.g_u[7], 0.0);
    EXPECT_EQ(l.f_u[2], 0.0);
  }
}

/// Each of f and g has increments of its own: what is small for one is large for another.
TEST(Point, SlopesOfAStateAtZeroBesideALargeOne) {
  const auto s = subsystem_of(
      {0.0, 1e10}, 0,
      [](double, Span x, Span, Out dxdt) {
        dxdt[0] = -3.0 * x[0] - 1e16 * x[0] * x[0] * x[0];
        dxdt[1] = -x[1] + 2.0 * x[0];
      },
      settings_of(IntegratorKind::erk), [](double, Span x, Span, Out y) { y[0] = 1e-9 * x[0]; });
  s->start({0.0, 0.1}, 1.0);
  Linearization l;
  for (int call = 0; call < 2; ++call) {
    ASSERT_EQ(s->linearize({}, l), Outcome::ok);
    EXPECT_NEAR(l.f_x[0], -3.0, 1e-5);
    EXPECT_NEAR(l.f_x[2], 2.0, 1e-5);
    EXPECT_NEAR(l.g_x[0], 1e-9, 1e-14);
  }
}

/// y = x t with its own slopes; differences would see what y has besides.
class OwnSlopes final : public OdeModel {
 public:
  OdeInterface interface() const override { return {{}, {{"x", "", 2.0}}, {{"y", ""}}, {}}; }
  void derivatives(double, Span, Span, Out dxdt) override { dxdt[0] = 3.0; }
  void outputs(double t, Span x, Span, Out y) override { y[0] = x[0] * t + std::sin(1e7 * t); }
  bool time_derivatives(double, Span x, Span, const TimeDerivatives& result) override {
    result.f_t[0] = 0.0;
    result.g_t[0] = x[0];
    return true;
  }
  bool output_slopes(double t, Span x, Span, const Motion& motion, Out dydt) override {
    dydt[0] = x[0] + t * motion.dxdt[0];
    return true;
  }
};

TEST(Point, TheModelsOwnSlopesCount) {
  const auto s = subsystem_of(std::make_unique<OwnSlopes>(), {});
  s->start({0.5, 0.6}, 1.0);
  Sample y;
  ASSERT_EQ(s->point_outputs({}, Wanted::values_and_derivatives, {&y, 1}), Outcome::ok);
  EXPECT_EQ(y.derivative, 2.0 + 0.5 * 3.0);
  Linearization l;
  ASSERT_EQ(s->linearize({}, l), Outcome::ok);
  EXPECT_EQ(l.g_t[0], 2.0);
}

/// A chain of many states whose conductivity depends on them; `jump` couples the ends once a state
/// is positive.
std::unique_ptr<LambdaModel> chain(std::size_t n, std::shared_ptr<int> calls) {
  std::vector<double> start;
  for (std::size_t i = 0; i < n; ++i) start.push_back(-0.5 - 0.01 * static_cast<double>(i));
  return std::make_unique<LambdaModel>(
      start, 1, 2,
      [=](double, Span x, Span u, Out dxdt) {
        ++*calls;
        for (std::size_t i = 0; i < n; ++i) {
          const double left = i == 0 ? u[0] : x[i - 1], right = i + 1 == n ? 0.0 : x[i + 1];
          dxdt[i] = 100 * (1 + x[i] * x[i]) * (left - 2 * x[i] + right);
        }
        if (x[0] > 0) dxdt[0] += 3 * x[n - 1];
      },
      [](double, Span x, Span u, Out y) {
        y[0] = x[3] * x[4];
        y[1] = x[5] + u[0];
      });
}

TEST(Point, ManyStatesInGroups) {
  constexpr std::size_t n = 60;
  const auto calls = std::make_shared<int>(0);
  const auto s = subsystem_of(chain(n, calls), settings_of(IntegratorKind::erk));
  s->start({0.0, 1e-3}, 1.0);
  const Sample u{2.0, 0.0};
  Linearization first, second;
  ASSERT_EQ(s->linearize({&u, 1}, first), Outcome::ok);
  EXPECT_GT(*calls, static_cast<int>(2 * n));
  *calls = 0;
  ASSERT_EQ(s->linearize({&u, 1}, second), Outcome::ok);
  EXPECT_LT(*calls, 20);
  EXPECT_EQ(first.f_x, second.f_x);
  EXPECT_EQ(first.g_x, second.g_x);

  // Until x_0 is positive: an entry that no call has seen before.
  const double h_step = 1e-3;
  const Polynomial constant{{2.0, 0.0, 0.0, 0.0}};
  std::vector<Sample> y(2);
  int step = 0;
  while (s->states()[0] <= 0.0 && step < 100) {
    ASSERT_EQ(s->advance({step * h_step, (step + 1) * h_step}, {&constant, 1},
                         InputContinuity::broken, Wanted::values, y),
              Outcome::ok);
    ++step;
  }
  ASSERT_GT(s->states()[0], 0.0);
  ASSERT_EQ(s->linearize({&u, 1}, second), Outcome::ok);
  EXPECT_NEAR(second.f_x[n - 1], 3.0, 1e-6);
  EXPECT_NEAR(second.g_x[3], s->states()[4], 1e-8);
}

}  // namespace point_test
}  // namespace concord::test
