#include <gtest/gtest.h>
#include <petscsys.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "concord/model_builder.hpp"
#include "concord/simulation.hpp"

// What events have changed is part of what the library remembers, and of what it takes back.

namespace concord {
namespace events_test {

/// A heated room; the heater's switch, a counter of ticks.
constexpr const char* room = R"(name: room
experiment: {start: 0, stop: 4}
subsystems:
  room:
    equations:
      inputs: {heat: 1}
      states: {T: 20}
      derivatives: {T: 10 - T/2 + 4*heat}
      outputs: {T: T}
  thermostat:
    equations:
      parameters: {high: 24}
      inputs: {T: 20}
      discrete: {heat: 1, ticks: 0}
      when:
        - {condition: T > high, set: {heat: 0}}
        - {condition: T < 22, set: {heat: 1}}
        - {every: 0.3, set: {ticks: ticks + 1}}
      outputs: {heat: heat, ticks: ticks}
connections: [room.T -> thermostat.T, thermostat.heat -> room.heat]
)";

Simulation started(const Options& options) {
  const std::string path = testing::TempDir() + "events_test_" + std::to_string(getpid()) + ".yaml";
  std::ofstream(path) << room;
  Simulation simulation(PETSC_COMM_WORLD, model_file(path), options);
  simulation.start();
  return simulation;
}

std::vector<double> seen(Simulation& simulation) {
  return {simulation.time(), simulation.value("room.T"), simulation.value("thermostat.heat"),
          simulation.value("thermostat.ticks")};
}

std::vector<std::vector<double>> course(Simulation& simulation) {
  std::vector<std::vector<double>> rows;
  while (!simulation.finished()) {
    simulation.advance();
    rows.push_back(seen(simulation));
  }
  return rows;
}

/// From 20 degrees, until the switch is turned.
double first_switch(double high) { return 2.0 * std::log((28.0 - 20.0) / (28.0 - high)); }

const std::vector<Options> methods = {
    {{"cosim_type", "jfm"}, {"cosim_step", "0.1"}},
    {{"cosim_type", "missiles"}, {"cosim_step", "0.1"}},
    {{"cosim_type", "gauss_seidel"}, {"cosim_step", "0.1"}},
    {{"cosim_type", "monolithic"}, {"cosim_step", "0.1"}},
    {{"cosim_type", "jfm"}, {"cosim_adapt", "predictor"}, {"cosim_adapt_rtol", "1e-6"}},
};

TEST(SimulationLibraryEvents, ARestoredRunHasTheSameBits) {
  for (const Options& options : methods) {
    Simulation simulation = started(options);
    simulation.advance_until(1.77);
    const Snapshot snapshot = simulation.snapshot();
    const auto first = course(simulation);
    simulation.restore(snapshot);
    EXPECT_EQ(course(simulation), first) << options.at("cosim_type");
    Simulation other = started(options);
    other.advance();
    other.restore(snapshot);
    EXPECT_EQ(course(other), first) << options.at("cosim_type");
    EXPECT_EQ(first.back()[3], 14.0);
  }
}

/// As often as somebody looks, also right behind an event.
TEST(SimulationLibraryEvents, SnapshotsChangeNothing) {
  for (const Options& options : methods) {
    Simulation undisturbed = started(options), taken = started(options),
               restored = started(options);
    const auto whole = course(undisturbed);
    const auto rows = [](Simulation& simulation, const auto& after_each) {
      std::vector<std::vector<double>> result;
      while (!simulation.finished()) {
        simulation.advance();
        after_each();
        result.push_back(seen(simulation));
      }
      return result;
    };
    EXPECT_EQ(rows(taken, [&] { taken.snapshot(); }), whole) << options.at("cosim_type");
    EXPECT_EQ(rows(restored, [&] { restored.restore(restored.snapshot()); }), whole)
        << options.at("cosim_type");
  }
}

/// What is set at an event is what was set there, however the simulation came to it.
TEST(SimulationLibraryEvents, SnapshotsChangeNothingOfWhatIsSet) {
  for (const Options& options : methods) {
    std::vector<std::vector<std::vector<double>>> courses;
    for (const bool looks : {false, true}) {
      Simulation simulation = started(options);
      while (simulation.value("thermostat.heat") != 0.0) {
        simulation.advance();
      }
      if (looks) {
        simulation.restore(simulation.snapshot());
      }
      simulation.set("thermostat.high", 23.5);
      courses.push_back(course(simulation));
    }
    EXPECT_EQ(courses[0], courses[1]) << options.at("cosim_type");
  }
}

TEST(SimulationLibraryEvents, AParameterMovesTheNextOne) {
  for (const Options& options : methods) {
    Simulation simulation = started(options);
    simulation.advance_until(0.5);
    simulation.set("thermostat.high", 25.0);
    double switched = 0.0;
    while (simulation.value("thermostat.heat") != 0.0) {
      ASSERT_FALSE(simulation.finished());
      simulation.advance();
      switched = simulation.time();
    }
    const double bound = options.at("cosim_type") == "gauss_seidel" ? 0.1 : 1e-5;
    EXPECT_NEAR(switched, first_switch(25.0), bound) << options.at("cosim_type");
  }
}

/// Rises with slope 1, and falls by 1 where it reaches 0.7.
class Sawtooth : public Subsystem {
 public:
  Sawtooth() : Subsystem(described()) {}
  void start(const MacroStep& first, double) override { now_ = {first.begin, 0.0}; }
  Outcome advance(const MacroStep& step, std::span<const Polynomial>, InputContinuity, Wanted,
                  std::span<Sample> outputs) override {
    now_ = {step.end, now_.x + step.size()};
    outputs[0] = {now_.x, 1.0};
    return Outcome::ok;
  }
  Outcome point_outputs(std::span<const Sample>, Wanted, std::span<Sample> outputs) override {
    outputs[0] = {now_.x, 1.0};
    return Outcome::ok;
  }
  double next_event(std::span<const Sample>) override { return now_.t + (0.7 - now_.x); }
  Outcome happen(EventPass pass, std::span<const Sample>, double slack, EventChange& change,
                 std::vector<Happening>& what) override {
    const bool due = pass == EventPass::happen && now_.x >= 0.7 - slack;
    change = due ? EventChange::values : EventChange::nothing;
    if (due) {
      now_.x -= 1.0;
      what.push_back({0, "tooth"});
    }
    return Outcome::ok;
  }
  void save() override { saved_ = now_; }
  void restore() override { now_ = saved_; }

 private:
  static SubsystemDescription described() {
    SubsystemDescription description;
    description.outputs = {{"y", ""}};
    description.events = true;
    auto& can = description.capabilities;
    can.polynomial_inputs = can.point_outputs = can.output_derivatives = can.rollback = true;
    return description;
  }

  struct Now {
    double t, x;
  };
  Now now_{}, saved_{};
};

class Integral : public OdeModel {
 public:
  OdeInterface interface() const override {
    OdeInterface result;
    result.inputs = {{"u", "", 0.0}};
    result.states = {{"x", "", 0.0}};
    result.outputs = {{"x", ""}};
    result.feedthrough.emplace();
    return result;
  }
  void derivatives(double, std::span<const double>, std::span<const double> u,
                   std::span<double> dxdt) override {
    dxdt[0] = u[0];
  }
  void outputs(double, std::span<const double> x, std::span<const double>,
               std::span<double> y) override {
    y[0] = x[0];
  }
};

/// What a subsystem in C++ tells of its events gets through to the network.
TEST(SimulationLibraryEvents, ASubsystemTellsOfItsOwn) {
  ModelBuilder builder("tooth", 0.0, 2.0);
  builder.add_subsystem("tooth", [] { return std::make_unique<Sawtooth>(); });
  builder.add("integral", [] { return std::make_unique<Integral>(); });
  builder.connect("tooth.y", "integral.u");
  for (const char* type : {"jfm", "ifosmondi"}) {
    Simulation simulation(PETSC_COMM_WORLD, builder.source(),
                          {{"cosim_type", type}, {"cosim_step", "0.2"}});
    simulation.start();
    std::vector<double> ends;
    simulation.observe([&](const StepInfo& step) { ends.push_back(step.end); });
    simulation.advance_until(2.0);
    for (const double instant : {0.7, 1.7}) {
      EXPECT_TRUE(std::any_of(ends.begin(), ends.end(), [&](double end) {
        return std::abs(end - instant) < 1e-10;
      })) << type;
    }
    EXPECT_NEAR(simulation.value("tooth.y"), 0.0, 1e-9) << type;
    EXPECT_NEAR(simulation.value("integral.x"), 0.245 + 0.2 - 0.045, 1e-9) << type;
  }
}

}  // namespace events_test
}  // namespace concord
