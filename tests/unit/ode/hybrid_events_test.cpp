#include "subsystem/ode/hybrid_events.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace concord::test {
namespace hybrid_events_test {

constexpr double never = std::numeric_limits<double>::infinity();

/// A ball above a floor at -u, which returns it with half of its speed; it has a time event, too.
class Ball final : public HybridModel {
 public:
  OdeInterface interface() const override { return {}; }
  void derivatives(double, std::span<const double> x, std::span<const double>,
                   std::span<double> dxdt) override {
    dxdt[0] = x[1];
    dxdt[1] = -9.81;
  }
  void outputs(double, std::span<const double>, std::span<const double>,
               std::span<double>) override {}
  void begin_initialization(double, double) override {}
  bool initializing() const override { return false; }
  void end_initialization(std::span<const double>, std::span<double>) override {}
  std::size_t indicator_count() const override { return 1; }
  bool has_events() const override { return true; }
  void indicators(double t, std::span<const double> x, std::span<const double> u,
                  std::span<double> z) override {
    z[0] = x[0] + u[0] + 3.0 * (t - 1.0);
  }
  bool input_event(std::span<const double>) override { return false; }
  double next_time_event() const override { return time_event; }
  bool wants_completed_steps() const override { return false; }
  bool completed_step(double, std::span<const double>, std::span<const double>) override {
    return false;
  }
  bool takes_back_completed_steps() const override { return false; }
  SmoothInterval reachable() const override { return {}; }
  void handle_event(double, std::span<double>, std::span<const double>) override {}
  void handle_accepted_event(double t, double, std::span<double> x,
                             std::span<const double>) override {
    handled_at = t;
    x[1] *= -0.5;
    time_event = never;
  }
  void change_parameters(double, std::span<double>, std::span<const double>) override {}
  std::optional<std::string> io(Archive&) override { return std::nullopt; }
  void save() override {}
  void restore() override {}

  double time_event = never;
  std::optional<double> handled_at;
};

constexpr double slack = 1e-10;
constexpr double u[] = {0.5}, dudt[] = {0.25};

/// dz/dt = dx_0/dt + du/dt + 3, from the side on which the model is: positive there.
TEST(HybridEvents, IndicatorsAndTheirSlopesAreThoseOfTheSide) {
  for (const double side : {1.0, -1.0}) {
    Ball ball;
    HybridEvents events(ball);
    const double x[] = {side * 3.0, 2.0}, dxdt[] = {2.0, -9.81};
    std::vector<Happening> what;
    EXPECT_FALSE(events.settle({1.0, u, {dxdt, dudt}, slack}, x, what));
    Indicator z;
    events.indicators(1.0, x, u, {&z, 1});
    EXPECT_DOUBLE_EQ(z.value, side * (side * 3.0 + 0.5));
    double slope = 0.0;
    events.indicator_slopes(1.0, x, u, {dxdt, dudt}, {&slope, 1});
    EXPECT_NEAR(slope, side * (2.0 + 0.25 + 3.0), 1e-6);
  }
}

/// At the floor on the way down: only where instants are located, and nothing but the speed is
/// other.
TEST(HybridEvents, AnIndicatorHasChangedBehindTheInstant) {
  for (const bool located : {false, true}) {
    Ball ball;
    HybridEvents events(ball);
    events.locate(located);
    double x[] = {0.5, -8.0};
    const double dxdt[] = {-8.0, -9.81};
    std::vector<Happening> what;
    events.settle({1.0, u, {dxdt, dudt}, slack}, x, what);
    EXPECT_FALSE(events.happen({1.0, u, {dxdt, dudt}, slack}, x, what));
    x[0] = -0.5;  // z is 0, and falls
    EXPECT_EQ(events.happen({1.0, u, {dxdt, dudt}, slack}, x, what), located);
    EXPECT_EQ(x[0], -0.5);
    EXPECT_NEAR(x[1], located ? 4.0 : -8.0, 10.0 * slack);
    ASSERT_EQ(what.size(), located ? 1u : 0u);
    if (located) {
      EXPECT_EQ(what[0].what, "state event 0");
      EXPECT_NEAR(*ball.handled_at, 1.0, slack);
    }
  }
}

/// What is due within the slack happens now, at the time that the model knows.
TEST(HybridEvents, TimeEventsAreTheModelsOwn) {
  Ball ball;
  HybridEvents events(ball);
  double x[] = {3.0, -8.0};
  const double dxdt[] = {-8.0, -9.81};
  std::vector<Happening> what;
  events.settle({1.0, u, {dxdt, dudt}, slack}, x, what);
  ball.time_event = 1.0 + 2.0 * slack;
  EXPECT_FALSE(events.happen({1.0, u, {dxdt, dudt}, slack}, x, what));
  ball.time_event = 1.0 + 0.5 * slack;
  EXPECT_TRUE(events.happen({1.0, u, {dxdt, dudt}, slack}, x, what));
  EXPECT_EQ(ball.handled_at, 1.0 + 0.5 * slack);
  ASSERT_EQ(what.size(), 1u);
  EXPECT_EQ(what[0].what, "time event");
  EXPECT_EQ(x[1], 4.0);
}

/// One that was found on the way is still to happen where the macro-step ends at it.
TEST(HybridEvents, AStepEventIsKeptWhereItEndsTheMacroStep) {
  Ball ball;
  HybridEvents events(ball);
  EXPECT_EQ(events.first_step_event(never, 2.0), never);
  EXPECT_EQ(events.first_step_event(1.5, 2.0), 1.5);
  EXPECT_EQ(events.first_step_event(never, 1.5), 1.5);
  EXPECT_EQ(events.first_step_event(never, 2.0), never);
}

}  // namespace hybrid_events_test
}  // namespace concord::test
