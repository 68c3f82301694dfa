#include "modelfile/scenario/scenario_connections.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "concord/errors.hpp"
#include "expression/expression_list.hpp"
#include "expression/expression_scan.hpp"
#include "modelfile/fmu/fmu_entry.hpp"
#include "modelfile/scenario/scenario.hpp"
#include "modelfile/scenario/scenario_equations.hpp"
#include "modelfile/yaml/equations_reader.hpp"
#include "support/name_patterns.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Names = std::vector<std::string>;

enum class Role { output, input, parameter, state };

/// A variable of a subsystem.
struct Place {
  Role role;
  std::size_t subsystem, index;
};

/// "scenario_sensor_y" of what is done to sensor.y; "car_v" of what is read of car.v.
std::string plain_name(std::string name, std::set<std::string>& taken) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  while (!taken.insert(name).second) name += '_';
  return name;
}

/// Whatever stands in the model for a connection or a constraint is none of its subsystems.
bool is_written(const SubsystemEntry& entry) {
  return entry.written && entry.description.stands_for.empty();
}

/// The model by whole names.
class Variables {
 public:
  explicit Variables(const Model& model) : model_(model) {
    for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
      const SubsystemEntry& entry = model.subsystems[k];
      const SubsystemDescription& d = entry.description;
      if (d.constraint) continue;
      add(Role::output, k, d.name, names_of(d.outputs));
      add(Role::input, k, d.name, names_of(d.inputs));
      add(Role::state, k, d.name, names_of(d.states));
      add(Role::parameter, k, d.name,
          entry.equations ? names_of(entry.equations->parameters) : d.parameters.all());
    }
    for (const SystemEntry& system : model.systems)
      for (const auto* terminals : {&system.inputs, &system.outputs})
        for (const SystemTerminal& terminal : *terminals)
          terminals_.emplace(system.name + "." + terminal.name, terminal.inner);
    for (std::size_t i = 0; i < model.connections.size(); ++i) {
      const ConnectionEntry connection = model.connections[i];
      feeders_.emplace(connection.to, i);
      const SubsystemDescription* const to = owner_of_input(connection.to);
      if (to == nullptr || !to->constraint) fed_.insert(connection.from);
    }
  }

  /// What the name of a system's input or output stands for within.
  Names within(const std::string& name) const {
    const auto found = terminals_.find(name);
    if (found == terminals_.end()) return {name};
    Names result;
    for (const std::string& inner : found->second)
      for (std::string& end : within(inner)) result.push_back(std::move(end));
    return result;
  }

  std::optional<Place> find(Role role, const std::string& name) const {
    const auto& places = places_[static_cast<std::size_t>(role)];
    const auto found = places.find(name);
    return found == places.end() ? std::nullopt : std::optional(found->second);
  }

  /// The inputs that an output feeds, where some by a delay those behind it.
  Names fed_by(const std::string& output) const {
    Names result;
    for (const ConnectionEntry& connection : model_.connections) {
      if (connection.from != output) continue;
      const auto input = find(Role::input, connection.to);
      if (!input) continue;
      const SubsystemDescription& to = entry(*input).description;
      if (to.kind != "delay") {
        result.push_back(connection.to);
        continue;
      }
      for (std::string& late : fed_by(to.name + "." + to.outputs.front().name))
        result.push_back(std::move(late));
    }
    return result;
  }

  bool feeds_something(const std::string& output) const { return fed_.contains(output); }
  std::optional<ConnectionEntry> feeder(const std::string& input) const {
    const auto found = feeders_.find(input);
    return found == feeders_.end() ? std::nullopt
                                   : std::optional(model_.connections[found->second]);
  }

  /// All that can be named so, in the model's order.
  const Names& names(Role role) const { return names_[static_cast<std::size_t>(role)]; }

  const SubsystemEntry& entry(const Place& place) const {
    return model_.subsystems[place.subsystem];
  }

 private:
  void add(Role role, std::size_t subsystem, const std::string& owner, const Names& variables) {
    const auto r = static_cast<std::size_t>(role);
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const std::string name = owner + "." + variables[i];
      places_[r].emplace(name, Place{role, subsystem, i});
      if (is_written(model_.subsystems[subsystem])) names_[r].push_back(name);
    }
  }

  const SubsystemDescription* owner_of_input(const std::string& input) const {
    if (owners_.empty())
      for (const SubsystemEntry& entry : model_.subsystems)
        for (const auto& each : entry.description.inputs)
          owners_.emplace(entry.description.name + "." + each.name, &entry.description);
    const auto found = owners_.find(input);
    return found == owners_.end() ? nullptr : found->second;
  }

  const Model& model_;
  std::unordered_map<std::string, Place> places_[4];
  Names names_[4];
  std::unordered_map<std::string, Names> terminals_;
  std::unordered_map<std::string, std::size_t> feeders_;
  std::set<std::string> fed_;
  mutable std::unordered_map<std::string, const SubsystemDescription*> owners_;
};

/// The target of some actions, and where it is.
struct PlacedTarget {
  std::string name;
  Place place;
  ScenarioTarget what;
};

/// Finds what actions are about, and refuses what they cannot act upon.
class Targets {
 public:
  explicit Targets(const Variables& variables) : variables_(variables) {}

  void add(const ScenarioAction& action) {
    for (const std::string& chosen : chosen_targets(action))
      for (const std::string& name : variables_.within(chosen)) add_one(action, name);
  }

  std::vector<PlacedTarget> take() { return std::move(targets_); }

 private:
  [[noreturn]] static void fail(const ScenarioAction& action, const std::string& problem) {
    throw InputError(action.value_location + ": " + in_words(action) + ": " + problem);
  }

  static bool is_base(const ScenarioAction& action) {
    return action.deed == Deed::set || action.deed == Deed::ramp;
  }

  Names chosen_targets(const ScenarioAction& action) const {
    if (!is_pattern(action.target)) return {action.target};
    Names all;
    for (const Role role : {Role::output, Role::input, Role::parameter})
      for (const std::string& name : variables_.names(role))
        if (matches(action.target, name) && place_in(action, name) &&
            (!action.planned || may_be_set(name)))
          all.push_back(name);
    std::set<std::string> seen;
    std::erase_if(all, [&](const std::string& name) { return !seen.insert(name).second; });
    if (all.empty())
      fail(action, "the pattern stands for nothing that it can act on; " +
                       nearest_names(action.target, variables_.names(Role::output)));
    return all;
  }

  /// What a pattern of -cosim_stream_set means.
  bool may_be_set(const std::string& name) const {
    if (const auto input = variables_.find(Role::input, name)) {
      const auto& variables = variables_.entry(*input).description.inputs;
      return !variables_.feeder(name) && variables[input->index].start.has_value();
    }
    const auto parameter = variables_.find(Role::parameter, name);
    if (!parameter) return false;
    const SubsystemEntry& entry = variables_.entry(*parameter);
    return entry.type->fmu ||
           (entry.equations &&
            is_named(*entry.equations, entry.equations->parameters[parameter->index].name));
  }

  /// Outputs that feed something before inputs of the same name; what has no feeder is set.
  std::optional<Place> place_in(const ScenarioAction& action, const std::string& name) const {
    const auto output = variables_.find(Role::output, name);
    if (output && !is_base(action) && variables_.feeds_something(name)) return output;
    if (const auto input = variables_.find(Role::input, name)) return input;
    if (const auto parameter = variables_.find(Role::parameter, name)) return parameter;
    return std::nullopt;
  }

  void refuse(const ScenarioAction& action, const std::string& name) const {
    if (variables_.find(Role::output, name))
      fail(action, is_base(action)
                       ? "'" + name +
                             "' is an output, which follows from states and inputs; "
                             "use override, which says what is passed on"
                       : "'" + name +
                             "' is an output that feeds no input, so that nothing would "
                             "change");
    if (variables_.find(Role::state, name))
      fail(action, "'" + name + "' is a state; actions are on inputs, outputs and parameters");
    Names all;
    for (const Role role : {Role::output, Role::input, Role::parameter})
      all.insert(all.end(), variables_.names(role).begin(), variables_.names(role).end());
    fail(action, "the model has no " + in_quotes(name) + "; " + known("names", name, all));
  }

  void add_one(const ScenarioAction& written, const std::string& name) {
    ScenarioAction action = written;
    action.target = name;
    const auto place = place_in(action, name);
    if (!place) refuse(action, name);
    if (place->role == Role::output && action.deed == Deed::drop)
      for (const std::string& input : variables_.fed_by(name))
        add_to(input_place(input), input, action);
    else
      add_to(*place, name, action);
  }

  Place input_place(const std::string& name) const { return *variables_.find(Role::input, name); }

  void add_to(const Place& place, const std::string& name, const ScenarioAction& action) {
    const auto found = std::ranges::find_if(targets_, [&](const PlacedTarget& target) {
      return target.name == name && target.place.role == place.role;
    });
    PlacedTarget& target =
        found != targets_.end() ? *found : targets_.emplace_back(made(place, name, action));
    const auto feeder = variables_.feeder(name);
    if (place.role == Role::input && is_base(action) && feeder)
      fail(action, "'" + name + "' is fed by '" + feeder->from +
                       "'; use override, which counts whatever feeds it");
    if (action.planned && !target.what.actions.empty() && target.what.actions.back().planned)
      return;
    target.what.actions.push_back(action);
  }

  PlacedTarget made(const Place& place, const std::string& name,
                    const ScenarioAction& action) const {
    PlacedTarget result{name, place, {}};
    ScenarioTarget& what = result.what;
    const SubsystemEntry& entry = variables_.entry(place);
    const SubsystemDescription& d = entry.description;
    if (place.role == Role::output) {
      what.fed = true;
      what.unit = d.outputs[place.index].unit;
      what.nominal = d.outputs[place.index].nominal;
    } else if (place.role == Role::input) {
      const InputVariable& input = d.inputs[place.index];
      what.fed = variables_.feeder(name).has_value();
      take_input(input, what);
      if (!what.fed && !what.start)
        fail(action, "'" + name + "' is fed by nothing and has no start value; give it one");
    } else {
      take_parameter(entry, name, place.index, action, what);
    }
    return result;
  }

  static void take_parameter(const SubsystemEntry& entry, const std::string& name,
                             std::size_t index, const ScenarioAction& action,
                             ScenarioTarget& what) {
    if (entry.type->fmu) {
      take_input(driven_input(entry, entry.description.parameters[index]), what);
      return;
    }
    if (!entry.equations)
      fail(action, "'" + name + "' is a parameter of a subsystem of kind " +
                       entry.description.kind +
                       ", which a scenario cannot change; make it an input of it");
    const EquationsDescription::Number& parameter = entry.equations->parameters[index];
    if (!is_named(*entry.equations, parameter.name))
      fail(action, "no expression of '" + entry.description.name + "' names '" + parameter.name +
                       "', and what was computed from it when the model was read stays; act on "
                       "what the equations name");
    what.start = parameter.value;
    for (const auto& unit : entry.equations->units)
      if (unit.name == parameter.name) what.unit = unit.text;
  }

  /// What the parameter of an FMU is as an input.
  static InputVariable driven_input(SubsystemEntry entry, const std::string& parameter) {
    drive_parameter(entry, parameter);
    return *std::ranges::find(entry.description.inputs, parameter, &InputVariable::name);
  }

  static void take_input(const InputVariable& input, ScenarioTarget& what) {
    what.unit = input.unit;
    what.nominal = input.nominal;
    what.start = input.start;
  }

  /// Functions may name what is around them.
  static bool is_named(const EquationsDescription& equations, const std::string& name) {
    const auto in_text = [&](const std::string& text) {
      return std::ranges::any_of(names_used(text), [&](const NameUse& use) {
        return use.name == name || (use.called && equations.functions);
      });
    };
    const auto in_all = [&](const auto& texts) {
      return std::ranges::any_of(texts, [&](const auto& each) { return in_text(each.text); });
    };
    return in_all(equations.derivatives) || in_all(equations.outputs) ||
           in_all(equations.variables) ||
           std::ranges::any_of(equations.whens, [&](const EquationsDescription::When& when) {
             return in_text(when.condition) || in_all(when.sets);
           });
  }

  const Variables& variables_;
  std::vector<PlacedTarget> targets_;
};

/// Puts equations between what the model connects.
class Rewriting {
 public:
  explicit Rewriting(Model& model) : model_(model) {
    for (const SubsystemEntry& entry : model.subsystems) taken_.insert(entry.description.name);
  }

  /// Names the subsystems of the targets.
  void apply(std::vector<PlacedTarget>& targets) {
    std::ranges::stable_sort(targets, {}, [](const PlacedTarget& target) {
      return target.place.role == Role::output;  // which then know what their connections are
    });
    for (PlacedTarget& target : targets) {
      target.what.subsystem = plain_name("scenario_" + target.name, taken_);
      lead_through(target);
    }
    for (const PlacedTarget& target : targets) add_equations(target);
  }

 private:
  void lead_through(const PlacedTarget& target) {
    const std::string in = target.what.subsystem + "." + scenario_input_name,
                      out = target.what.subsystem + "." + scenario_output_name;
    const Location& location = target.what.actions.front().location;
    if (target.place.role == Role::output) {
      const bool held = is_held(target.name) && keeps_held(target.what);
      model_.connections.change([&](ConnectionEntry& connection) {
        if (connection.from != target.name || leads_to_constraint(connection)) return;
        connection.from = out;
        connection.held = connection.held || held;
      });
      model_.connections.push_back({target.name, in, location});
      return;
    }
    if (target.place.role == Role::parameter) make_input(target);
    ConnectionEntry leaving{out, target.name, location};
    bool found = false;
    model_.connections.change([&](ConnectionEntry& connection) {
      if (connection.to != target.name || std::exchange(found, true)) return;
      leaving.held = (connection.held || is_held(connection.from)) && keeps_held(target.what);
      connection.to = in;
    });
    model_.connections.push_back(leaving);
  }

  /// What a constraint looks at is what is there, not what is passed on.
  bool leads_to_constraint(const ConnectionEntry& connection) const {
    return std::ranges::any_of(model_.subsystems, [&](const SubsystemEntry& entry) {
      return entry.description.constraint &&
             connection.to.starts_with(entry.description.name + ".");
    });
  }

  bool is_held(const std::string& output) const {
    for (const SubsystemEntry& entry : model_.subsystems)
      for (const OutputVariable& each : entry.description.outputs)
        if (each.kind == SignalKind::held && entry.description.name + "." + each.name == output)
          return true;
    return false;
  }

  void make_input(const PlacedTarget& target) {
    SubsystemEntry& entry = model_.subsystems[target.place.subsystem];
    if (entry.type->fmu) {
      drive_parameter(entry, target.name.substr(entry.description.name.size() + 1));
      return;
    }
    auto other = std::make_shared<EquationsDescription>(*entry.equations);
    const std::string name = target.name.substr(other->subsystem.size() + 1);
    auto& parameters = other->parameters.own();
    const auto parameter = std::ranges::find(parameters, name, &EquationsDescription::Number::name);
    other->inputs.push_back(*parameter);
    parameters.erase(parameter);
    describe_anew(entry, std::move(other));
  }

  /// The equations, and connections from all that they name.
  void add_equations(const PlacedTarget& target) {
    std::set<std::string> taken = {scenario_input_name, "no_event"};
    std::vector<ScenarioSignal> signals;
    const auto read = [&](const std::string& text, const Location& location, const char* what) {
      for (const std::string& name : whole_names_in(text, location, what)) {
        if (std::ranges::find(signals, name, &ScenarioSignal::name) != signals.end()) continue;
        signals.push_back({name, plain_name(name, taken)});
        connect(signals.back(), target.what.subsystem, location);
      }
    };
    for (const ScenarioAction& action : target.what.actions) {
      read(action.when, action.time_location, "the condition");
      read(action.until, action.end_location, "the end");
      read(action.value, action.value_location, "the value");
    }
    SubsystemEntry entry = equations_entry(
        std::make_shared<const EquationsDescription>(equations_of(target.what, signals)));
    entry.written = false;
    entry.description.stands_for = "what the scenario does to " + target.name;
    entry.description.remarks.clear();
    for (const ScenarioAction& action : target.what.actions)
      entry.description.remarks.push_back(action.location + ": " + time_in_words(action) + ": " +
                                          in_words(action));
    model_.subsystems.push_back(std::move(entry));
  }

  /// Refuses what is no expression of whole names.
  Names whole_names_in(const std::string& text, const Location& location, const char* what) {
    if (text.empty()) return {};
    if (known_.variables.empty()) find_names();
    const PlacedExpression expression{text, location + ": " + what};
    const ExpressionList check(std::span(&expression, 1), known_, known_.variables.size());
    Names result;
    for (const NameUse& use : names_used(text))
      if (use.name.find('.') != std::string::npos) result.push_back(use.name);
    return result;
  }

  void find_names() {
    const auto add = [&](const std::string& name) {
      known_.variables.emplace(name, static_cast<std::uint32_t>(known_.variables.size()));
    };
    add("t");
    for (const SubsystemEntry& entry : model_.subsystems) {
      const SubsystemDescription& d = entry.description;
      for (const auto& output : d.outputs) add(d.name + "." + output.name);
      for (const auto& input : d.inputs) add(d.name + "." + input.name);
      for (const auto& state : d.states)
        if (entry.equations) add(d.name + "." + state.name);
    }
  }

  /// From the output of that name, the state, or what feeds the input.
  void connect(ScenarioSignal& signal, const std::string& subsystem, const Location& location) {
    const std::string to = subsystem + "." + signal.alias;
    for (SubsystemEntry& entry : model_.subsystems) {
      const SubsystemDescription& d = entry.description;
      if (!signal.name.starts_with(d.name + ".")) continue;
      const std::string variable = signal.name.substr(d.name.size() + 1);
      const auto output = std::ranges::find(d.outputs, variable, &OutputVariable::name);
      const auto state = std::ranges::find(d.states, variable, &StateVariable::name);
      const auto input = std::ranges::find(d.inputs, variable, &InputVariable::name);
      if (output != d.outputs.end()) {
        signal.unit = output->unit;
        model_.connections.push_back({signal.name, to, location});
      } else if (state != d.states.end() && entry.equations) {
        signal.unit = state->unit;
        put_out(entry, variable, location);
        model_.connections.push_back({signal.name, to, location});
      } else if (input != d.inputs.end()) {
        signal.unit = input->unit;
        model_.connections.push_back(like_feeder(signal.name, to, location));
      } else {
        continue;
      }
      return;
    }
  }

  static void put_out(SubsystemEntry& entry, const std::string& state, const Location& location) {
    auto other = std::make_shared<EquationsDescription>(*entry.equations);
    other->outputs.push_back({state, state, location});
    describe_anew(entry, std::move(other));
  }

  ConnectionEntry like_feeder(const std::string& input, const std::string& to,
                              const Location& location) const {
    const auto feeder = std::ranges::find(model_.connections, input, &ConnectionEntry::to);
    if (feeder == model_.connections.end())
      throw InputError(location + ": '" + input +
                       "' is an input that nothing feeds and no action sets, so that it stays as "
                       "it is; name what changes");
    ConnectionEntry result = *feeder;
    result.to = to;
    return result;
  }

  Model& model_;
  std::set<std::string> taken_;  ///< names of subsystems
  ExpressionNames known_;
};

/// Ticks are as far from each other as instants are told apart.
void refuse_too_many_ticks(const std::vector<ScenarioAction>& actions, const Model& model) {
  constexpr double most = 1e7;
  const double span = options::real("cosim_stop").value_or(model.stop) -
                      options::real("cosim_start").value_or(model.start);
  for (const ScenarioAction& action : actions)
    if (action.deed == Deed::noise && span / action.every > most)
      throw InputError(action.value_location + ": " + in_words(action) +
                       " has another value every " + short_number(action.every) +
                       " s, more than 1e7 times in the experiment's " + short_number(span) +
                       " s; give a larger 'every'");
}

void note_what_comes_late(const std::vector<ScenarioAction>& actions, Model& model) {
  const double stop = options::real("cosim_stop").value_or(model.stop);
  for (const ScenarioAction& action : actions)
    if (action.at && *action.at >= stop)
      model.notes.push_back(
          action.time_location + ": " + in_words(action) + " at t = " + short_number(*action.at) +
          " s, which is not before the stop at " + short_number(stop) + " s, and has no effect");
}

std::vector<ScenarioAction> read_scenarios(Model& model) {
  std::vector<ScenarioAction> result;
  const std::string given = options::text("cosim_scenario").value_or("");
  std::error_code error;
  for (const std::string& path :
       std::filesystem::exists(given, error) ? std::vector{given} : listed_names(given)) {
    for (ScenarioAction& action : read_scenario(path)) result.push_back(std::move(action));
    model.files.push_back({"scenario", path});
  }
  return result;
}

/// For whoever lets those who watch act.
void list_stream_targets(const std::vector<PlacedTarget>& targets, Model& model) {
  for (const auto& [name, place, what] : targets)
    if (const ScenarioAction& last = what.actions.back(); last.planned)
      model.stream_targets.push_back(
          {name, what.unit, what.subsystem, in_words(last), *what.start, last.least, last.most});
}

}  // namespace

void connect_scenario(Model& model) {
  std::vector<ScenarioAction> actions = read_scenarios(model);
  for (ScenarioAction& action : planned_actions(options::text("cosim_stream_set").value_or("")))
    actions.push_back(std::move(action));
  if (actions.empty()) return;
  std::vector<PlacedTarget> targets;
  {
    const Variables variables(model);
    Targets found(variables);
    for (const ScenarioAction& action : actions) found.add(action);
    targets = found.take();
  }
  refuse_too_many_ticks(actions, model);
  note_what_comes_late(actions, model);
  Rewriting(model).apply(targets);
  list_stream_targets(targets, model);
}

}  // namespace concord
