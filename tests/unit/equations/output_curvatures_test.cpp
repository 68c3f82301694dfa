#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "subsystem/equations/equations_model.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "subsystem/table/table_model.hpp"

namespace concord {
namespace {

using Real = long double;

std::unique_ptr<Subsystem> subsystem_of(std::unique_ptr<OdeModel> model) {
  SubsystemDescription description = describe_ode("s", "equations", model->interface());
  description.events = dynamic_cast<EventModel*>(model.get()) != nullptr &&
                       static_cast<EventModel*>(model.get())->has_events();
  SubsystemSettings settings;
  settings.integrator = IntegratorKind::erk;
  settings.tolerance.relative = 1e-13;
  settings.tolerance.absolute = 1e-14;
  return make_ode_subsystem(std::move(description), std::move(model), settings);
}

/// x = 1/(2 + sin t), (p, v) = (sin 3t, 3 cos 3t) where the input is u = cos t.
EquationsDescription nonlinear() {
  return {.subsystem = "s",
          .location = "",
          .parameters = {{"omega", 3.0, ""}, {"k", 0.7, ""}},
          .inputs = {{"u", 1.0, ""}},
          .states = {{"x", 0.5, ""}, {"p", 0.0, ""}, {"v", 3.0, ""}},
          .derivatives = {{"x", "-x^2*u", ""}, {"p", "v", ""}, {"v", "-stiffness*p", ""}},
          .outputs = {{"plain", "p", ""},
                      {"fed", "x^2*sin(u) + k", ""},
                      {"through", "k*exp(-q) + u^2*t", ""},
                      {"rest", "k", ""}},
          .variables = {{"stiffness", "omega^2", ""}, {"q", "x*p + hypot(v, u)", ""}},
          .units = {}};
}

std::array<Real, 4> exact(Real t) {
  const Real x = 1 / (2 + std::sin(t)), p = std::sin(3 * t), v = 3 * std::cos(3 * t);
  const Real u = std::cos(t), k = 0.7;
  return {p, x * x * std::sin(u) + k, k * std::exp(-(x * p + std::hypot(v, u))) + u * u * t, k};
}

/// By central differences over h, h/2, ..., extrapolated to 0.
Real second_difference(const std::function<Real(Real)>& f, Real t, Real h) {
  std::array<Real, 5> table{};
  for (std::size_t i = 0; i < table.size(); ++i, h /= 2) {
    Real better = (f(t + h) - 2 * f(t) + f(t - h)) / (h * h), factor = 4;
    for (std::size_t k = 0; k < i; ++k, factor *= 4) {
      const Real worse = std::exchange(table[k], better);
      better += (better - worse) / (factor - 1);
    }
    table[i] = better;
  }
  return table.back();
}

/// The cubic through value and slope of cos at both ends.
Polynomial cosine_over(double t, double h) {
  const double v1 = std::cos(t), d1 = -std::sin(t), v2 = std::cos(t + h), d2 = -std::sin(t + h);
  const double line = (v2 - v1) / h;
  return {{v1, d1, (3.0 * line - 2.0 * d1 - d2) / h, (d1 + d2 - 2.0 * line) / (h * h)}};
}

TEST(OutputCurvatures, along_a_solution_are_those_of_the_exact_one) {
  const auto s = subsystem_of(std::make_unique<EquationsModel>(nonlinear()));
  ASSERT_TRUE(s->description().capabilities.output_curvatures);
  constexpr double h = 1e-3;
  s->start({0.0, h}, 2.0);
  std::array<Sample, 4> y;
  for (int n = 0; n < 1000; ++n) {
    const double begin = n * h, t = (n + 1) * h;
    const Polynomial input = cosine_over(begin, h);
    ASSERT_EQ(s->advance({begin, t, h}, {&input, 1}, InputContinuity::smooth, Wanted::values, y),
              Outcome::ok);
    if (n % 50 != 0) continue;
    const Sample u{std::cos(t), -std::sin(t), -std::cos(t)};
    std::array<double, 4> found;
    ASSERT_EQ(s->output_curvatures({&u, 1}, found), Outcome::ok);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto output = [i](Real at) { return exact(at)[i]; };
      EXPECT_NEAR(found[i], static_cast<double>(second_difference(output, t, 0.02L)), 1e-10)
          << "output " << i << ", t = " << t;
    }
  }
}

TEST(OutputCurvatures, are_asked_for_without_moving_anything) {
  const auto s = subsystem_of(std::make_unique<EquationsModel>(nonlinear()));
  s->start({0.25, 0.5}, 2.0);
  const Sample u{0.3, 0.2, 5.0};
  std::array<double, 4> first, again;
  std::array<Sample, 4> before, after;
  ASSERT_EQ(s->point_outputs({&u, 1}, Wanted::values_and_derivatives, before), Outcome::ok);
  ASSERT_EQ(s->output_curvatures({&u, 1}, first), Outcome::ok);
  ASSERT_EQ(s->output_curvatures({&u, 1}, again), Outcome::ok);
  ASSERT_EQ(s->point_outputs({&u, 1}, Wanted::values_and_derivatives, after), Outcome::ok);
  EXPECT_EQ(first, again);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].value, after[i].value);
    EXPECT_EQ(before[i].derivative, after[i].derivative);
  }
}

/// y = x |x| and so on; d is what an event has left.
EquationsDescription hybrid() {
  return {.subsystem = "s",
          .location = "",
          .parameters = {{"k", 2.0, ""}},
          .inputs = {{"u", 0.0, ""}},
          .states = {{"x", -1.0, ""}},
          .derivatives = {{"x", "x > 5 ? 0 : k*x + u", ""}},
          .outputs = {{"y", "abs(x)*x", ""}, {"z", "d*x + floor(x)", ""}},
          .discrete = {{"d", 3.0, ""}},
          .whens = {{"x < -7", std::nullopt, 0.0, false, {{"d", "pre(d) + 1", ""}}, ""}},
          .units = {}};
}

/// x' = 2 x + u, x'' = 2 (2 x + u) + u'; u'' does not come into it.
TEST(OutputCurvatures, are_those_of_the_branch_that_holds) {
  EquationsModel model(hybrid());
  for (const double start : {-1.0, 1.0}) {
    const double x[] = {start}, u[] = {0.5}, du[] = {0.25}, ddu[] = {9.0};
    model.begin(0.0, x, u);
    const double dx = 2.0 * start + 0.5, ddx = 2.0 * dx + 0.25;
    double found[2];
    ASSERT_TRUE(model.output_curvatures(0.0, x, u, {du, ddu}, found));
    EXPECT_DOUBLE_EQ(found[0], (start < 0 ? -2.0 : 2.0) * (dx * dx + start * ddx));
    EXPECT_DOUBLE_EQ(found[1], 3.0 * ddx);
  }
}

TEST(OutputCurvatures, follow_events_and_parameters) {
  EquationsModel model(hybrid());
  const double u[] = {0.0}, zero[] = {0.0}, slope[] = {-16.0};
  double x[] = {-6.0}, found[2];
  model.begin(0.0, x, u);
  std::vector<Happening> what;
  model.settle({0.0, u, {slope, zero}, 0.0}, x, what);
  x[0] = -8.0;
  ASSERT_TRUE(model.happen({0.5, u, {slope, zero}, 0.0}, x, what));
  ASSERT_TRUE(model.happen({0.5, u, {slope, zero}, 0.0}, x, what));
  ASSERT_TRUE(model.output_curvatures(0.5, x, u, {zero, zero}, found));
  EXPECT_DOUBLE_EQ(found[1], 4.0 * 2.0 * 2.0 * -8.0);
  ASSERT_TRUE(model.set_parameter(0, 3.0));
  ASSERT_TRUE(model.output_curvatures(0.5, x, u, {zero, zero}, found));
  EXPECT_DOUBLE_EQ(found[1], 4.0 * 3.0 * 3.0 * -8.0);
}

/// Of 3000 states, outputs move with the neighbours of one.
TEST(OutputCurvatures, need_those_states_only_that_outputs_move_with) {
  EquationsDescription description;
  constexpr int n = 3000;
  for (int i = 0; i < n; ++i) {
    const std::string own = "x" + std::to_string(i), next = "x" + std::to_string((i + 1) % n);
    description.states.push_back({own, 0.1, ""});
    description.derivatives.push_back({own, "sin(" + next + ")", ""});
  }
  description.outputs = {{"y", "x0", ""}};
  EquationsModel model(description);
  EXPECT_EQ(model.curvatures().variables_used(), (std::vector<std::uint32_t>{2, 3}));
}

TEST(OutputCurvatures, that_are_no_numbers_are_a_failure_with_a_reason) {
  EquationsDescription description;
  description.states = {{"x", 0.0, ""}};
  description.derivatives = {{"x", "t", ""}};
  description.outputs = {{"root", "sqrt(x)", ""}};
  const auto s = subsystem_of(std::make_unique<EquationsModel>(description));
  s->start({0.0, 0.5}, 1.0);
  double found = 0.0;
  EXPECT_EQ(s->output_curvatures({}, {&found, 1}), Outcome::failed);
  EXPECT_EQ(s->failure(), "second derivative of output 'root' is inf at t = 0 s");
}

/// A model in C++ that gives them, or says nothing of them.
class Parabola : public OdeModel {
 public:
  OdeInterface interface() const override {
    OdeInterface result;
    result.outputs = {{"y", ""}};
    return result;
  }
  void derivatives(double, std::span<const double>, std::span<const double>,
                   std::span<double>) override {}
  void outputs(double t, std::span<const double>, std::span<const double>,
               std::span<double> y) override {
    y[0] = t * t;
  }
};

class OwnCurvatures final : public Parabola {
  OdeInterface interface() const override {
    OdeInterface result = Parabola::interface();
    result.output_curvatures = true;
    return result;
  }
  bool output_curvatures(double, std::span<const double>, std::span<const double>,
                         const InputMotion&, std::span<double> d2ydt2) override {
    d2ydt2[0] = 2.0;
    return true;
  }
};

TEST(OutputCurvatures, are_differences_of_slopes_where_a_model_does_not_give_them) {
  const auto with = subsystem_of(std::make_unique<OwnCurvatures>());
  const auto without = subsystem_of(std::make_unique<Parabola>());
  double found = 0.0;
  with->start({0.0, 0.5}, 1.0);
  without->start({0.0, 0.5}, 1.0);
  EXPECT_TRUE(with->description().capabilities.output_curvatures);
  EXPECT_EQ(with->output_curvatures({}, {&found, 1}), Outcome::ok);
  EXPECT_EQ(found, 2.0);
  EXPECT_TRUE(without->description().capabilities.output_curvatures);
  found = 0.0;
  EXPECT_EQ(without->output_curvatures({}, {&found, 1}), Outcome::ok);
  EXPECT_NEAR(found, 2.0, 1e-9);
}

/// Equations that keep what they know of their derivatives to themselves: f and g, and Jacobians.
class Hidden : public OdeModel {
 public:
  Hidden(const EquationsDescription& description, bool jacobians)
      : model_(description), jacobians_(jacobians) {}
  OdeInterface interface() const override {
    OdeInterface result = model_.interface();
    result.output_curvatures = false;
    return result;
  }
  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    model_.derivatives(t, x, u, dxdt);
  }
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override {
    model_.outputs(t, x, u, y);
  }
  bool jacobians(double t, std::span<const double> x, std::span<const double> u,
                 const Jacobians& result) override {
    return jacobians_ && model_.jacobians(t, x, u, result);
  }

 private:
  EquationsModel model_;
  bool jacobians_;
};

TEST(OutputCurvatures, by_differences_are_good_enough_for_order_6) {
  constexpr double h = 0.01;
  for (const bool jacobians : {true, false}) {
    std::array<double, 4> expected, found;
    for (const double t : {0.0, 1.0, 3.0}) {
      const auto exact = subsystem_of(std::make_unique<EquationsModel>(nonlinear()));
      const auto differenced = subsystem_of(std::make_unique<Hidden>(nonlinear(), jacobians));
      const Sample u{std::cos(t), -std::sin(t), -std::cos(t)};
      for (Subsystem* s : {exact.get(), differenced.get()}) s->start({t, t + h}, 9.0);
      ASSERT_EQ(exact->output_curvatures({&u, 1}, expected), Outcome::ok);
      ASSERT_EQ(differenced->output_curvatures({&u, 1}, found), Outcome::ok);
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(h * h * found[i], h * h * expected[i], 2e-12) << i << ", t = " << t;
    }
  }
}

/// A subsystem with time stepping of its own.
class Stepping final : public Subsystem {
 public:
  Stepping() : Subsystem({}) {}
  void start(const MacroStep&, double) override {}
  Outcome advance(const MacroStep&, std::span<const Polynomial>, InputContinuity, Wanted,
                  std::span<Sample>) override {
    return Outcome::ok;
  }
};

TEST(OutputCurvatures, are_refused_by_subsystems_that_say_nothing_of_them) {
  Stepping own;
  EXPECT_FALSE(own.description().capabilities.output_curvatures);
  EXPECT_EQ(own.output_curvatures({}, {}), Outcome::failed);
  EXPECT_EQ(own.failure(),
            "cannot tell the second derivatives of its outputs (capability output_curvatures)");
}

std::unique_ptr<Subsystem> table(Interpolation interpolation) {
  const std::vector<double> times = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0};
  TableDescription description{
      "table",
      {{"y", ""}},
      std::make_shared<TableSignals>(times, std::vector<std::vector<double>>{{0, 1, 4, 9, 16, 25}},
                                     interpolation, Beyond::hold, Beyond::hold, 0.5)};
  return subsystem_of(make_table_model(description));
}

double curvature_of(Subsystem& subsystem, double t) {
  Sample y;
  double found = -1.0;
  subsystem.start({t, t + 0.1}, 9.0);
  EXPECT_EQ(subsystem.output_curvatures({}, {&found, 1}), Outcome::ok);
  return found;
}

TEST(OutputCurvatures, of_tables_are_those_between_their_rows) {
  EXPECT_EQ(curvature_of(*table(Interpolation::linear), 2.25), 0.0);
  EXPECT_NEAR(curvature_of(*table(Interpolation::cubic), 2.25), 2.0, 1e-12);
  EXPECT_NEAR(curvature_of(*table(Interpolation::cubic), 2.5), 2.0, 1e-12);
  EXPECT_EQ(curvature_of(*table(Interpolation::cubic), 9.0), 0.0);
  EXPECT_EQ(curvature_of(*table(Interpolation::step), 0.7), 0.0);
}

}  // namespace
}  // namespace concord
