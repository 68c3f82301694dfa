#include "concord/simulation.hpp"

#include <gtest/gtest.h>
#include <petscsys.h>
#include <unistd.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <unsupported/Eigen/MatrixFunctions>

#include "concord/model_builder.hpp"
#include "unit/simulation/pair_model.hpp"

// The library as a program that embeds it sees it: public headers only, PETSc started by the host,
// on as many ranks as the test is started with. Solutions are matrix exponentials.

namespace concord {
namespace simulation_test {

std::string own_file(const std::string& ending) {
  return testing::TempDir() + "simulation_test_" + std::to_string(getpid()) + ending;
}

ModelSource source(const std::vector<std::string>& changes = {}) {
  const std::string path = own_file(".yaml");
  std::ofstream(path) << pair;
  return model_file(path, changes);
}

/// (a.x, b.x) after `h` with constant w and k.
Eigen::Vector2d after(double h, const Eigen::Vector2d& x, double w, double k) {
  Eigen::Matrix3d whole = Eigen::Matrix3d::Zero();
  whole.topRows(2) << -0.8, 0.5, w, -2.0, -k, 0.0;
  const Eigen::Vector3d begin(x[0], x[1], 1.0);
  return (Eigen::Matrix3d(whole * h).exp() * begin).head(2);
}

const Eigen::Vector2d at_start(1.0, 0.5);

Eigen::Vector2d states(Simulation& simulation) {
  return {simulation.value("a.x"), simulation.value("b.x")};
}

double largest(const Eigen::Vector2d& difference) { return difference.lpNorm<Eigen::Infinity>(); }

/// A method with the options it needs, and what a macro-step of 0.01 s leaves of its error.
struct MethodCase {
  const char* name;
  Options options;
  double bound;
};

std::vector<MethodCase> methods() {
  return {
      {"jfm", {{"cosim_type", "jfm"}}, 1e-8},
      {"jfm sequential", {{"cosim_type", "jfm"}, {"cosim_schedule", "sequential"}}, 1e-8},
      {"anderson", {{"cosim_type", "jfm"}, {"snes_type", "anderson"}}, 1e-6},
      {"ifosmondi", {{"cosim_type", "ifosmondi"}}, 1e-5},
      {"foh", {{"cosim_type", "jfm"}, {"cosim_hold", "foh"}}, 1e-4},
      {"missiles", {{"cosim_type", "missiles"}}, 1e-8},
      {"jacobi", {{"cosim_type", "jacobi"}}, 2e-2},
      {"jacobi 2",
       {{"cosim_type", "jacobi"}, {"cosim_hold", "extrapolate"}, {"cosim_hold_order", "2"}},
       1e-4},
      {"balance", {{"cosim_type", "jacobi"}, {"cosim_balance", "smooth"}}, 2e-2},
      {"extripol",
       {{"cosim_type", "jacobi"}, {"cosim_hold", "extripol"}, {"cosim_hold_order", "1"}},
       2e-2},
      {"gauss_seidel", {{"cosim_type", "gauss_seidel"}}, 2e-2},
      {"staggered_grid", {{"cosim_type", "staggered_grid"}}, 2e-2},
      {"monolithic", {{"cosim_type", "monolithic"}}, 1e-5},
      {"jfm predictor",
       {{"cosim_type", "jfm"}, {"cosim_adapt", "predictor"}, {"cosim_adapt_rtol", "1e-5"}},
       1e-4},
      {"missiles predictor",
       {{"cosim_type", "missiles"}, {"cosim_adapt", "predictor"}, {"cosim_adapt_rtol", "1e-5"}},
       1e-4},
      {"jacobi predictor",
       {{"cosim_type", "jacobi"}, {"cosim_adapt", "predictor"}, {"cosim_adapt_rtol", "1e-4"}},
       2e-2},
      {"gauss_seidel predictor",
       {{"cosim_type", "gauss_seidel"}, {"cosim_adapt", "predictor"}, {"cosim_adapt_rtol", "1e-4"}},
       2e-2},
      {"gauss_seidel richardson",
       {{"cosim_type", "gauss_seidel"},
        {"cosim_adapt", "richardson"},
        {"cosim_adapt_rtol", "1e-4"}},
       2e-2},
      {"jacobi richardson_modified",
       {{"cosim_type", "jacobi"},
        {"cosim_adapt", "richardson_modified"},
        {"cosim_adapt_rtol", "1e-4"}},
       2e-2},
      {"jfm iteration", {{"cosim_type", "jfm"}, {"cosim_adapt", "iteration"}}, 1e-5},
  };
}

Simulation started(const MethodCase& method) {
  Options options = method.options;
  options.emplace("cosim_step", "0.01");
  Simulation simulation(PETSC_COMM_WORLD, source(), options);
  simulation.start();
  return simulation;
}

TEST(SimulationLibrary, RunsToItsEndAsTheTheorySays) {
  for (const auto& method : methods()) {
    Simulation simulation = started(method);
    int told = 0;
    simulation.observe([&](const StepInfo& step) { told += step.end > step.begin ? 1 : 0; });
    while (!simulation.finished()) {
      simulation.advance();
    }
    EXPECT_EQ(simulation.time(), 1.0);
    EXPECT_GE(told, 10) << method.name;
    EXPECT_LT(largest(states(simulation) - after(1.0, at_start, 0.0, 0.5)), method.bound)
        << method.name;
  }
}

TEST(SimulationLibrary, OptionsAreItsOwn) {
  PetscOptionsSetValue(nullptr, "-cosim_type", "no such method");
  {
    Simulation simulation(PETSC_COMM_WORLD, source(), {{"cosim_type", "jacobi"}});
    simulation.start();
    simulation.advance();
  }
  PetscOptionsClearValue(nullptr, "-cosim_type");
  PetscBool known = PETSC_FALSE;
  PetscOptionsHasName(nullptr, nullptr, "-cosim_type", &known);
  EXPECT_EQ(known, PETSC_FALSE);
  EXPECT_THROW(Simulation(PETSC_COMM_WORLD, source(), {{"cosim_typ", "jacobi"}}), InputError);
}

TEST(SimulationLibrary, ComesToATimeExactly) {
  for (const auto& method : methods()) {
    Simulation simulation = started(method);
    for (const double time : {0.0123, 0.5, 0.5001, 0.987}) {
      simulation.advance_until(time);
      EXPECT_EQ(simulation.time(), time) << method.name;
    }
    EXPECT_THROW(simulation.advance_until(0.5), InputError);
    simulation.advance_until(7.0);
    EXPECT_EQ(simulation.time(), 1.0);
    EXPECT_TRUE(simulation.finished());
    EXPECT_THROW(simulation.advance(), InputError);
    EXPECT_LT(largest(states(simulation) - after(1.0, at_start, 0.0, 0.5)), method.bound)
        << method.name;
  }
}

TEST(SimulationLibrary, GoesOnAfterAStopThatOneRankAskedFor) {
  Simulation simulation(PETSC_COMM_WORLD, source(), {{"cosim_step", "0.1"}});
  simulation.start();
  int rank = 0, ranks = 1, asked = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  simulation.advance_until(1.0, [&] { return ++asked < 3 || rank + 1 < ranks; });
  EXPECT_EQ(asked, 3);
  EXPECT_NEAR(simulation.time(), 0.3, 1e-15);
  simulation.advance_until(1.0);
  EXPECT_TRUE(simulation.finished());
}

TEST(SimulationLibrary, OptionsOfAFileComeBeforeItsOwn) {
  const std::string path = own_file(".opts");
  std::ofstream(path) << "-cosim_step 0.1\n-cosim_stop 0.5\n";
  Simulation simulation(PETSC_COMM_WORLD, source(),
                        {{"options_file", path}, {"cosim_step", "0.2"}});
  simulation.start();
  simulation.advance();
  EXPECT_EQ(simulation.time(), 0.2);
  EXPECT_EQ(simulation.stop_time(), 0.5);
}

TEST(SimulationLibrary, AModelFileTakesChanges) {
  Simulation simulation(PETSC_COMM_WORLD, source({"a.x=3", "b.k=2"}), {{"cosim_step", "0.01"}});
  simulation.start();
  EXPECT_EQ(simulation.value("a.x"), 3.0);
  simulation.advance_until(1.0);
  EXPECT_LT(largest(states(simulation) - after(1.0, {3.0, 0.5}, 0.0, 2.0)), 1e-7);
  EXPECT_THROW(Simulation(PETSC_COMM_WORLD, source({"a.q=1"}), {}), InputError);
}

TEST(SimulationLibrary, AnInputIsSetBetweenMacroSteps) {
  const Eigen::Vector2d middle = after(0.4, at_start, 0.5, 0.5);
  const Eigen::Vector2d end = after(0.6, middle, -2.0, 0.5);
  for (const auto& method : methods()) {
    Options options = method.options;
    options.emplace("cosim_step", "0.01");
    Simulation simulation(PETSC_COMM_WORLD, source(), options);
    simulation.set("a.w", 0.5);
    simulation.start();
    const Settable w = simulation.settable("a.w");
    simulation.advance_until(0.4);
    EXPECT_LT(largest(states(simulation) - middle), 2.0 * method.bound) << method.name;
    simulation.set(w, -2.0);
    simulation.advance_until(1.0);
    EXPECT_EQ(simulation.value("a.w"), -2.0);
    EXPECT_LT(largest(states(simulation) - end), 6.0 * method.bound) << method.name;
  }
}

TEST(SimulationLibrary, AParameterIsSetBetweenMacroSteps) {
  const Eigen::Vector2d end = after(0.6, after(0.4, at_start, 0.0, 2.0), 0.0, -3.0);
  for (const auto& method : methods()) {
    Options options = method.options;
    options.emplace("cosim_step", "0.01");
    Simulation simulation(PETSC_COMM_WORLD, source(), options);
    simulation.set("b.k", 2.0);
    simulation.start();
    simulation.advance_until(0.4);
    simulation.set("b.k", -3.0);
    simulation.advance_until(1.0);
    EXPECT_LT(largest(states(simulation) - end), 6.0 * method.bound) << method.name;
  }
}

/// Of all variables after every macro-step.
std::vector<double> course(Simulation& simulation) {
  std::vector<Variable> all;
  for (const auto& name : simulation.variables()) {
    all.push_back(simulation.variable(name));
  }
  std::vector<double> values, now(all.size());
  while (!simulation.finished()) {
    simulation.advance();
    simulation.values(all, now);
    values.push_back(simulation.time());
    values.insert(values.end(), now.begin(), now.end());
  }
  return values;
}

TEST(SimulationLibrary, ARestoredRunHasTheSameBits) {
  for (const auto& method : methods()) {
    Simulation simulation = started(method);
    simulation.set("b.k", 0.75);
    simulation.advance_until(0.31);
    simulation.set("a.w", 0.25);
    const Snapshot snapshot = simulation.snapshot();
    EXPECT_EQ(snapshot.time(), 0.31);
    const auto first = course(simulation);
    simulation.restore(snapshot);
    EXPECT_EQ(simulation.time(), 0.31);
    EXPECT_EQ(course(simulation), first) << method.name;
    Simulation other = started(method);
    other.advance();
    other.restore(snapshot);
    EXPECT_EQ(course(other), first) << method.name;
    const auto end = after(0.69, after(0.31, at_start, 0.0, 0.75), 0.25, 0.75);
    EXPECT_LT(largest(states(other) - end), 3.0 * method.bound) << method.name;
  }
}

/// As another process has it, and with a later stop, which changes nothing before it.
TEST(SimulationLibrary, ASnapshotIsWholeAsBytes) {
  for (const auto& method : methods()) {
    Simulation simulation = started(method);
    simulation.advance_until(0.3);
    const std::vector<std::byte> bytes = simulation.snapshot().bytes();
    simulation.advance_until(0.9);
    const Snapshot read = Snapshot::of_bytes(bytes);
    EXPECT_EQ(read.time(), 0.3);
    Options options = method.options;
    options.emplace("cosim_step", "0.01");
    options.emplace("cosim_stop", "2");
    Simulation longer(PETSC_COMM_WORLD, source(), options);
    longer.restore(read);
    longer.advance_until(0.9);
    EXPECT_EQ(states(longer), states(simulation)) << method.name;
    longer.advance_until(1.5);
    EXPECT_EQ(longer.time(), 1.5);
    for (const std::size_t at : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
      std::vector<std::byte> wrong = bytes;
      wrong[at] ^= std::byte{1};
      EXPECT_THROW(Snapshot::of_bytes(wrong), InputError);
    }
    EXPECT_THROW(Snapshot::of_bytes(std::span(bytes).first(bytes.size() - 1)), InputError);
  }
  EXPECT_THROW(Snapshot::of_bytes({}), InputError);
  EXPECT_THROW(Snapshot().bytes(), InputError);
}

TEST(SimulationLibrary, AResetOneIsANewOne) {
  const Changes values = {"b.k=0.75", "a.x=1.25"};
  for (const auto& method : methods()) {
    Options options = method.options;
    options.emplace("cosim_step", "0.01");
    Simulation fresh(PETSC_COMM_WORLD, source(values), options);
    fresh.start();
    const auto expected = course(fresh);
    Simulation used = started(method);
    int seen = 0;
    used.observe([&](const StepInfo& step) { seen = static_cast<int>(step.index); });
    used.set("b.k", 2.0);
    used.advance_until(0.31);
    used.reset(values);
    EXPECT_EQ(used.time(), 0.0);
    EXPECT_EQ(course(used), expected) << method.name;
    EXPECT_GE(seen, 50) << method.name;
    EXPECT_THROW(used.reset({"b.nothing=1"}), InputError);
    EXPECT_TRUE(used.finished());
  }
}

/// Steps without one count as -1.
std::vector<double> error_estimates(Simulation& simulation, const std::vector<double>& seen) {
  const auto first = seen.size();
  simulation.advance_until(1.0);
  std::vector<double> later(seen.begin() + static_cast<std::ptrdiff_t>(first), seen.end());
  std::replace_if(
      later.begin(), later.end(), [](double e) { return std::isnan(e); }, -1.0);
  return later;
}

TEST(SimulationLibrary, ARestoredRunEstimatesTheSameErrors) {
  for (const auto& method : methods()) {
    Simulation simulation = started(method);
    std::vector<double> seen;
    simulation.observe([&](const StepInfo& step) { seen.push_back(step.error_estimate); });
    simulation.advance_until(0.31);
    const Snapshot snapshot = simulation.snapshot();
    const auto first = error_estimates(simulation, seen);
    EXPECT_FALSE(first.empty());
    simulation.restore(snapshot);
    EXPECT_EQ(error_estimates(simulation, seen), first) << method.name;
  }
}

/// Of every macro-step, where `after_each` has its turn behind each.
std::vector<double> disturbed_course(const MethodCase& method,
                                     const std::function<void(Simulation&)>& after_each) {
  Simulation simulation = started(method);
  std::vector<double> values;
  while (!simulation.finished()) {
    simulation.advance();
    after_each(simulation);
    values.push_back(simulation.time());
    for (const double state : states(simulation)) {
      values.push_back(state);
    }
  }
  return values;
}

/// A snapshot holds all that the next macro-step depends on, but for the history of a multistep
/// method, without which a run goes on as accurately.
TEST(SimulationLibrary, SnapshotsChangeNothing) {
  for (const auto& method : methods()) {
    const auto whole = disturbed_course(method, [](Simulation&) {});
    const auto restored =
        disturbed_course(method, [](Simulation& it) { it.restore(it.snapshot()); });
    if (std::string(method.name) == "monolithic") {
      ASSERT_EQ(restored.size(), whole.size());
      for (std::size_t i = 0; i < whole.size(); ++i) {
        EXPECT_NEAR(restored[i], whole[i], method.bound);
      }
    } else {
      EXPECT_EQ(restored, whole) << method.name;
    }
  }
}

TEST(SimulationLibrary, MistakesAreNamed) {
  const auto says = [](const auto& work, const std::string& part) {
    try {
      work();
      ADD_FAILURE() << "nothing was refused: " << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  Simulation simulation(PETSC_COMM_WORLD, source(), {{"cosim_type", "jfm"}});
  says([&] { simulation.advance(); }, "was started");
  says([&] { simulation.snapshot(); }, "was started");
  simulation.start();
  says([&] { simulation.start(); }, "started before");
  says([&] { simulation.variable("a.z"); },
       "'a.z', and no such parameter that can be read; did you");
  says([&] { simulation.settable("a.u"); }, "fed by");
  says([&] { simulation.settable("b.kk"); }, "did you mean 'b.k'");
  says([&] { simulation.set("a.w", std::nan("")); }, "finite");
  Simulation other(PETSC_COMM_WORLD, source(), {{"cosim_type", "jacobi"}});
  other.start();
  const Snapshot snapshot = other.snapshot();
  says([&] { simulation.restore(snapshot); }, "another model, other options");
  const auto made_with = [](const char* option, const char* value) {
    Simulation(PETSC_COMM_WORLD, source(), {{"cosim_type", "hierarchical"}, {option, value}});
  };
  says([&] { made_with("cosim_schedule_signals", "weighted"); }, "concord::run_program only");
  says([&] { made_with("cosim_schedule_efforts", "before.h5"); }, "concord::run_program only");
  simulation.advance();
}

/// y' = -y + u by the exact solution for constant u; knows nothing of what it remembers.
class Decay : public Subsystem {
 public:
  Decay() : Subsystem(described()) {}
  void start(const MacroStep&, double) override {}
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs, InputContinuity,
                  Wanted, std::span<Sample> outputs) override {
    const double u = inputs[0](0.5 * step.size());
    y_ = u + (y_ - u) * std::exp(-step.size());
    outputs[0] = {y_, u - y_};
    return Outcome::ok;
  }
  Outcome point_outputs(std::span<const Sample> inputs, Wanted,
                        std::span<Sample> outputs) override {
    outputs[0] = {y_, inputs[0].value - y_};
    return Outcome::ok;
  }

 private:
  static SubsystemDescription described() {
    SubsystemDescription description;
    description.inputs = {{"u", "", 0.0}};
    description.outputs = {{"y", ""}};
    auto& can = description.capabilities;
    can.polynomial_inputs = can.point_outputs = can.output_derivatives = true;
    return description;
  }
  double y_ = 1.0;
};

TEST(SimulationLibrary, ASubsystemStepsByItself) {
  ModelBuilder builder("decays", 0.0, 1.0);
  builder.add_subsystem("one", [] { return std::make_unique<Decay>(); });
  builder.add_subsystem("two", [] { return std::make_unique<Decay>(); });
  builder.connect("one.y", "two.u", 0.5).start_value("one.u", 0.25);
  Simulation simulation(PETSC_COMM_WORLD, builder.source(),
                        {{"cosim_type", "jacobi"}, {"cosim_hold", "extrapolate"}});
  simulation.start();
  simulation.advance_until(1.0);
  const double e = std::exp(-1.0);
  EXPECT_NEAR(simulation.value("one.y"), 0.25 + 0.75 * e, 1e-12);
  EXPECT_NEAR(simulation.value("two.y"), 0.125 + 0.375 * e + 0.875 * e, 1e-5);
  EXPECT_THROW(simulation.snapshot(), InputError);
}

}  // namespace simulation_test
}  // namespace concord
