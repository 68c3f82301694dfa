#include <gtest/gtest.h>
#include <petscsys.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <vector>

#include "concord/simulation.hpp"

// What events have changed is part of what the library remembers, and of what it takes back.

namespace concord {
namespace {

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

}  // namespace
}  // namespace concord
