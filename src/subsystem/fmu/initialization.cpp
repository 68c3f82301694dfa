#include <algorithm>
#include <cmath>
#include <limits>

#include "subsystem/fmu/setup.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

/// In initialisation mode an FMU has each value as it was given exactly; afterwards parameters that
/// nobody may tune. In FMI 1.0 what is given to parameters, too, may be a guess.
bool stays(const FmiVariable& variable, bool initializing) {
  const bool parameter = variable.causality == FmiCausality::parameter ||
                         variable.causality == FmiCausality::structural_parameter;
  const bool guess = variable.initial == "approx";
  if (initializing) return (parameter && !guess) || variable.initial == "exact";
  return parameter && !guess && variable.variability != FmiVariability::tunable;
}

double number_in(const std::string& text) {
  return text == "true" ? 1.0 : parse_number(text).value_or(0.0);
}

/// An FMU may keep its numbers in single precision.
bool same(double given, double found) {
  constexpr double single = std::numeric_limits<float>::epsilon();
  return std::abs(given - found) <= single * std::max(std::abs(given), std::abs(found));
}

/// Once: after initialisation they are some of the same.
void tell_values_not_kept(const FmuSetup& setup, FmuInstance& instance) {
  const std::string values = values_not_kept(setup, instance);
  if (values.empty() || !setup.told->insert("values not kept").second) return;
  tell(setup,
       "does not keep the values that it is given: " + values + " (what it runs with is its own)",
       "warning");
}

}  // namespace

std::string values_not_kept(const FmuSetup& setup, FmuInstance& instance) {
  const bool initializing = instance.mode() == FmuMode::initializing;
  FmuPorts ports(setup.model->version);
  std::vector<double> given;
  std::vector<std::string> names;
  for (const auto* starts : {&setup.structural, &setup.starts})
    for (const FmuStart& start : *starts) {
      const FmiVariable& variable = *start.variable;
      if (!is_number(variable.type) || !stays(variable, initializing)) continue;
      ports.add(variable, given.size());
      for (const std::string& text : start.texts) given.push_back(number_in(text));
      names.resize(given.size(), variable.name);
    }
  std::vector<double> found = given;
  if (!instance.get_if_it_can(ports, found)) return "";
  std::vector<std::string> others;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!same(given[i], found[i]))
      others.push_back(in_quotes(names[i]) + " is " + short_number(found[i]) + ", not " +
                       short_number(given[i]));
  return joined(others, "; ");
}

/// 20-sim's FMUs take back in fmi2SetupExperiment what was set before it.
bool begin_initialization(const FmuSetup& setup, FmuInstance& instance, double start, double stop,
                          double tolerance) {
  const auto set_all = [&](const std::vector<FmuStart>& values) {
    return std::all_of(values.begin(), values.end(), [&](const FmuStart& value) {
      return instance.set_texts(*value.variable, value.texts);
    });
  };
  if (!setup.structural.empty() && !(instance.enter_configuration() && set_all(setup.structural) &&
                                     instance.leave_configuration()))
    return false;
  if (!instance.set_up_experiment(start, stop, tolerance) || !set_all(setup.starts) ||
      !instance.enter_initialization())
    return false;
  tell_values_not_kept(setup, instance);
  return set_all(setup.input_starts);
}

bool end_initialization(const FmuSetup& setup, FmuInstance& instance, EventOutcome& outcome,
                        const Ticking* ticking) {
  outcome.next_time = std::numeric_limits<double>::infinity();
  if (ticking != nullptr && !ticking->clocks.begin(instance, ticking->t, ticking->memory))
    return false;
  if (!instance.leave_initialization()) return false;
  tell_values_not_kept(setup, instance);
  return instance.mode() != FmuMode::event || iterate_events(instance, outcome, ticking);
}

bool iterate_events(FmuInstance& instance, EventOutcome& outcome, const Ticking* ticking) {
  const bool good = ticking == nullptr ? instance.update_discrete_states(outcome)
                                       : ticking->clocks.iterate(instance, ticking->t, ticking->u,
                                                                 ticking->memory, outcome);
  if (!good) return false;
  if (ticking != nullptr)
    outcome.next_time = std::min(outcome.next_time, ticking->clocks.next(ticking->memory));
  return outcome.terminate || instance.leave_event_mode();
}

}  // namespace concord
