#include "settings/model_choices.hpp"

#include <algorithm>
#include <cmath>

#include "concord/errors.hpp"
#include "network/written_parts.hpp"
#include "subsystem/text_ports.hpp"
#include "support/name_patterns.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// Why the subsystem has no part in the predictors that linearise it, or nothing.
std::string unpredictable(Predictor predictor, const SubsystemDescription& subsystem) {
  const auto& has = subsystem.capabilities;
  const std::string offers = "subsystem '" + subsystem.name + "' offers no ";
  if (!(has.states && has.linearization)) {
    return offers + "states with linearization";
  }
  if (predictor == Predictor::linear_implicit && subsystem.constraint == ConstraintKind::indirect) {
    return "constraint '" + subsystem.name +
           "' answers to the slope of its unknown through states only, which an Euler step doesn't "
           "tell from the value";
  }
  if (predictor == Predictor::linear_implicit && !has.state_derivatives) {
    return offers + "state derivatives";
  }
  if (predictor == Predictor::linear_implicit && !has.rollback) {
    return offers + "rollback, so that its estimator takes its place and is the predictor";
  }
  return "";
}

}  // namespace

void require_capabilities(const Method& method, const Model& model) {
  const auto missing = missing_capabilities(method, model);
  if (missing.empty()) {
    return;
  }
  std::vector<std::string> possible;
  for (const auto& preset : method_presets()) {
    if (missing_capabilities(preset, model).empty()) {
      possible.push_back(preset.type);
    }
  }
  throw InputError(
      "-cosim_type " + method.type + " cannot run: " + joined(missing, "; ") +
      ". Methods that can run this model: " + (possible.empty() ? "none" : joined(possible)));
}

void require_equal_steps(const Settings& settings, const Model& model) {
  const auto one =
      std::find_if(model.subsystems.begin(), model.subsystems.end(),
                   [](const auto& entry) { return !entry.description.capabilities.any_step; });
  if (one == model.subsystems.end()) {
    return;
  }
  const std::string who = "subsystem '" + one->description.name +
                          "' takes steps of one size only (its FMU's " +
                          "canHandleVariableCommunicationStepSize is not true), but ";
  if (settings.adapt != Adapt::none) {
    throw InputError(who + "-cosim_adapt changes them; use a fixed -cosim_step");
  }
  if (settings.method.schedule.half_steps_apart) {
    throw InputError(who + "-cosim_schedule staggered_grid begins with half a macro-step; use " +
                     "another schedule");
  }
  constexpr double whole = 1e-6;
  const auto fits = [&](double time) {
    const double steps = (time - settings.start) / settings.step;
    return std::abs(steps - std::nearbyint(steps)) <= whole;
  };
  std::vector<double> times = settings.events;
  times.push_back(settings.stop);
  for (const double time : times) {
    if (time > settings.start && time <= settings.stop && !fits(time)) {
      throw InputError(who + "steps of -cosim_step " + short_number(settings.step) +
                       " s from t = " + short_number(settings.start) + " s do not end at t = " +
                       short_number(time) + " s; use a -cosim_step that does");
    }
  }
}

void give_slow_steps(Settings& settings, const Model& model) {
  constexpr double whole = 1e-9;
  constexpr double most_macro_steps = 1e6;  // inputs at as many communication points are kept
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    const SubsystemEntry& entry = model.subsystems[k];
    if (entry.step == 0.0) {
      continue;
    }
    const std::string who = entry.step_location + ": subsystem '" + entry.description.name +
                            "' takes steps of " + short_number(entry.step) + " s, ";
    if (settings.adapt != Adapt::none) {
      throw InputError(who + "which must be a whole multiple of a fixed macro-step, but " +
                       (options::has("cosim_adapt") ? "-cosim_adapt" : "the accuracy") +
                       " chooses macro-steps as it goes; give -cosim_adapt none and a -cosim_step");
    }
    const double steps = entry.step / settings.step;
    const double nearest = std::max(std::round(steps), 1.0);
    if (std::abs(steps - nearest) > whole * nearest || nearest > most_macro_steps) {
      throw InputError(who + "which is no whole multiple of the macro-step, " +
                       short_number(settings.step) + " s (-cosim_step), up to " +
                       short_number(most_macro_steps) + "; the nearest allowed is " +
                       short_number(std::min(nearest, most_macro_steps) * settings.step) + " s");
    }
    settings.subsystems[k].slow = {static_cast<int>(nearest), settings.method.hold_order,
                                   settings.method.extrapolation};
  }
}

namespace {

/// The variables of which something may be recorded.
std::vector<std::string> names_to_record(const Model& model, const RecordSettings& record) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& owner, const auto& variables) {
    for (const auto& variable : variables) {
      names.push_back(owner + "." + variable.name);
    }
  };
  for (const SubsystemEntry* entry : written_entries(model)) {
    const auto& description = entry->description;
    if (record.outputs) add(description.name, description.outputs);
    if (record.outputs && entry->type->texts) add(description.name, entry->type->texts->outputs);
    if (record.inputs || record.balance) add(description.name, description.inputs);
    if (record.states) add(description.name, description.states);
  }
  return names;
}

void refuse_records_of_nothing(const Model& model, const RecordSettings& record) {
  const bool any = record.outputs || record.inputs || record.states || record.balance;
  if (any && !record.takes_all()) {
    chosen_names(listed_names(record.variables), names_to_record(model, record),
                 "what is recorded (option -cosim_record_variables)");
  }
}

}  // namespace

void tell_what_is_recorded(const Model& model, Settings& settings) {
  const RecordSettings& record = settings.record;
  refuse_records_of_nothing(model, record);
  if (record.outputs && record.takes_all()) {
    return;
  }
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    const auto& description = model.subsystems[k].description;
    for (const auto& output : description.outputs) {
      settings.subsystems[k].recorded.push_back(
          record.outputs && record.takes(whole_name(description, output.name)) ? 1 : 0);
    }
  }
}

bool RecordSettings::takes(const std::string& name) const {
  const auto list = listed_names(variables);
  return takes_all() || std::any_of(list.begin(), list.end(), [&](const std::string& one) {
           return one == name || matches(one, name);
         });
}

bool is_coupled(const Model& model) {
  return !model.connections.empty() || !model.constraints.empty();
}

void choose_predictor(Method& method, const Model& model) {
  const bool euler = method.predictor == Predictor::linear_implicit;
  if (!(method.predictor == Predictor::missiles || euler) || !method.solve.iterates) {
    return;
  }
  // Where nothing is connected there is nothing to guess, and no linearisation of many states.
  if (!is_coupled(model) && !options::has("cosim_predictor")) {
    method.predictor = Predictor::extrapolate;
    return;
  }
  std::string reason =
      method.hold.estimated || euler ? "" : "it needs -cosim_hold hermite or quintic";
  for (const auto& entry : model.subsystems) {
    reason = reason.empty() ? unpredictable(method.predictor, entry.description) : reason;
  }
  if (!reason.empty() && options::has("cosim_predictor")) {
    throw InputError("-cosim_predictor " + std::string(euler ? "linear_implicit" : "missiles") +
                     ": " + reason + "; use extrapolate or hold");
  }
  method.predictor = reason.empty() ? method.predictor : Predictor::extrapolate;
}

void choose_consistent_outputs(Method& method, const Model& model) {
  if (!method.solve.from_past || options::has("cosim_consistent_outputs")) {
    return;
  }
  const auto passes = [](const SubsystemEntry& entry) {
    return !entry.description.feedthrough.empty();
  };
  if (std::ranges::none_of(model.subsystems, passes)) return;  // nor can there be loops
  const Network network(model);
  bool possible = network.has_loops();
  for (const auto& component : network.components()) {
    for (const std::size_t output : component.outputs) {
      const std::size_t k = network.subsystem_of_output(output);
      possible = possible &&
                 (!component.loop || model.subsystems[k].description.capabilities.point_outputs);
    }
  }
  method.consistent_outputs = method.consistent_outputs || possible;
}

}  // namespace concord
