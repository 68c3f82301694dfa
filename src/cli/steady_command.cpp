#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/model_command.hpp"
#include "cli/modes_table.hpp"
#include "cli/output_file.hpp"
#include "cli/shown_units.hpp"
#include "concord/errors.hpp"
#include "modelfile/parameters_file.hpp"
#include "simulation/steady_state.hpp"
#include "studies/model_numbers.hpp"
#include "support/agreement.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// "a.u=1" of --hold.
std::pair<std::string, double> held_in(const std::string& word) {
  const std::size_t sign = word.find('=');
  const auto value = sign == word.npos ? std::nullopt : parse_number(word.substr(sign + 1));
  if (!value || !std::isfinite(*value)) {
    throw InputError("concord steady: --hold " + in_quotes(word) +
                     " must be a name and a number: --hold car.v=20");
  }
  return {word.substr(0, sign), *value};
}

SteadyWishes wishes_in(const GivenWords& own, const Model& model) {
  SteadyWishes wishes;
  for (const std::string& word : own.all("hold")) wishes.held.push_back(held_in(word));
  const auto numbers = numbers_of(model);
  for (const std::string& name : own.all("free")) {
    const auto found = numbers.find(name);
    wishes.free.push_back({name, {}});
    if (found == numbers.end()) continue;
    wishes.free.back().value = found->second.value;
    wishes.free.back().around = found->second.around;
  }
  wishes.model = [&own, path = model.text](const Changes& others) {
    std::vector<std::string> set = own.all("set");
    set.insert(set.end(), others.begin(), others.end());
    Model read = read_model(path, own, set);
    read.paces.emplace();  // of all subsystems
    return read;
  };
  return wishes;
}

/// The equations of the whole, whose start is all of it that is needed.
void choose_type() {
  if (const auto type = options::text("cosim_type"); type && *type != "monolithic") {
    throw InputError("concord steady: -cosim_type " + *type +
                     " has no meaning, as nothing is integrated; leave it out");
  }
  options::set("cosim_type", "monolithic");
}

/// The first ones, in the units to show them in.
void print_states(const SimulationPlan& plan, const OperatingPoint& point) {
  constexpr std::size_t listed = 50;
  std::size_t i = 0;
  for (const SubsystemEntry& entry : plan.model.subsystems) {
    for (const auto& state : entry.description.states) {
      if (i == std::min(listed, point.states.size())) break;
      const bool moves = std::binary_search(point.moving.begin(), point.moving.end(), i);
      const std::string& unit = entry.shown_unit(state);
      const std::string& name = plan.network.state_names()[i];
      const UnitConversion shown = conversion_to_shown({name, state.unit, {}, 0, unit});
      std::printf("  %-29s %-13.9g %s", name.c_str(), shown.factor * point.states[i] + shown.offset,
                  unit.c_str());
      if (moves)
        std::printf(" moves by %.6g in a second: nothing depends on it",
                    shown.factor * point.rates[i]);
      std::printf("\n");
      ++i;
    }
  }
  if (point.states.size() > listed) {
    std::printf("  and %zu more, in the file of -o\n", point.states.size() - listed);
  }
  for (const auto& [name, value] : point.freed) {
    std::printf("  %-29s %-13.9g freed\n", name.c_str(), value);
  }
}

void print_waiting(const SimulationPlan& plan, const OperatingPoint& point) {
  for (const Happening& waiting : point.waiting) {
    std::printf(
        "  note: the condition %s of subsystem '%s' holds there and has not acted: what only "
        "events change is as at the start\n",
        waiting.what.c_str(), plan.model.subsystems[waiting.part].description.name.c_str());
  }
}

/// The eigenvalue with the largest real part decides; one near zero is that of a conserved sum, or
/// of a state on which nothing depends.
std::string stability(const Modes& modes) {
  constexpr double nothing = 1e-9;
  if (modes.eigenvalues.size() == 0) return "no states";
  const double fastest = modes.eigenvalues.cwiseAbs().maxCoeff();
  const double rate = modes.eigenvalues[0].real();
  if (rate > nothing * fastest) {
    return "unstable: disturbances grow by e within " + short_number(1.0 / rate) + " s";
  }
  if (rate >= -nothing * fastest) return "neutral: disturbances of the first modes stay";
  return "stable: disturbances fall by e within " + short_number(-1.0 / rate) + " s at last";
}

void write_point(const std::filesystem::path& path, const SimulationPlan& plan,
                 const SteadyWishes& wishes, const OperatingPoint& point) {
  std::vector<std::pair<std::string, double>> values;
  const auto& inputs = plan.network.input_names();
  for (std::size_t i = 0; i < point.states.size(); ++i)
    values.emplace_back(plan.network.state_names()[i], point.states[i]);
  for (const auto& held : wishes.held)
    if (std::find(inputs.begin(), inputs.end(), held.first) != inputs.end()) values.push_back(held);
  values.insert(values.end(), point.freed.begin(), point.freed.end());
  const std::string text =
      parameters_text("Operating point of " + plan.model.name +
                          " at t = " + exact_number(point.time) + " s, found by concord steady",
                      values);
  write_output_file(path, text);
}

void tell(const SimulationPlan& plan, const OperatingPoint& point) {
  std::printf("%s at t = %.9g s: %zu states, at rest after %d steps %s%s\n",
              plan.model.name.c_str(), point.time, point.states.size(), point.steps,
              point.by_pseudo_time ? "in pseudo-time" : "of Newton's method",
              point.from_simplified ? ", from what homotopy() calls simplified" : "");
  print_states(plan, point);
  print_waiting(plan, point);
  const Modes modes = modes_of(point.a);
  std::printf("  %s\n", stability(modes).c_str());
  print_modes(plan.network.state_names(), modes);
}

int find_steady_state(ModelCall call) {
  const auto time = time_in(call.own, "steady");
  const SteadyWishes wishes = wishes_in(call.own, call.model);
  const std::string path = call.own.value("output").value_or("");
  choose_type();
  call.model.paces.emplace();  // of all subsystems
  SimulationCore simulation(
      std::make_unique<SimulationPlan>(PETSC_COMM_WORLD, std::move(call.model)));
  const SimulationPlan& plan = simulation.plan();
  simulation.start();
  OperatingPoint point;
  together(PETSC_COMM_WORLD,
           [&] { point = steady_state(simulation, wishes, time.value_or(plan.settings.start)); });
  together(PETSC_COMM_WORLD, [&] {
    if (rank_in(PETSC_COMM_WORLD) != 0) return;
    tell(plan, point);
    if (path.empty()) return;
    write_point(path, plan, wishes, point);
    std::printf("  start values          %s\n", path.c_str());
  });
  return 0;
}

const RegisteredCommand steady({
    .name = "steady",
    .place = 34,
    .usage = "MODEL [--hold a.u=1] [--free a.p] [--time T] [-o start.yaml] [-options]",
    .summary = "an operating point: where the coupled system rests, and whether it is stable",
    .description =
        "Finds states of the coupled system whose derivatives are zero, from the start values:\n"
        "by Newton's method, else in pseudo-time, which keeps conserved sums. Inputs that nothing\n"
        "feeds stay, or have the value that --hold gives them. An output or state may be held, "
        "too:\n"
        "then a parameter or such an input is freed and found, one for each. States on which "
        "nothing\n"
        "depends, as how far a car has come, may move. Discrete variables stay as at the start.",
    .words = words_of_models(
        {{.name = "hold",
          .value = "car.v=20",
          .help =
              "value of an input that nothing feeds, an output or a state;\nas often as wanted"},
         {.name = "free",
          .value = "driver.pedal",
          .help = "a parameter, or an input that nothing feeds, to be found; as\noften as wanted"},
         {.name = "time",
          .value = "T",
          .help = "s, at which derivatives are zero; default: the start"},
         {.name = "output",
          .letter = 'o',
          .value = "FILE",
          .help = "the point as start values, for --parameters FILE"}}),
    .example = "steady vehicle.yaml --hold car.v=20 --free driver.pedal -o cruise.yaml",
    .more_help = options_help,
    .run =
        [](const Arguments& arguments) { return with_model(steady, arguments, find_steady_state); },
});

}  // namespace
}  // namespace concord
