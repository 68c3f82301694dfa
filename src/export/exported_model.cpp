#include "export/exported_model.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "subsystem/equations/equations_model.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Description = EquationsDescription;
using Text = EquationsDescription::Text;

/// Levels of an expression in C.
constexpr std::size_t deepest = 400;

/// Makes an ExportedModel.
class Layout {
 public:
  explicit Layout(const Description& description)
      : description_(description), smooth_(description), names_behind_(description) {
    result_.name = description.subsystem;
    for (const Text& unit : description.units) units_[unit.name] = unit.text;
  }

  ExportedModel make() {
    read_equations();
    read_events();
    find_tables();
    choose_names();
    add_all();
    note_missing_starts();
    return std::move(result_);
  }

 private:
  ExportedEquation equation(const Text& text, const Expression& smooth) const {
    check_depth(smooth, text.text, text.location);
    const std::set<std::string> uses = names_behind_(text.text);
    return {text.name, smooth, {uses.begin(), uses.end()}};
  }
  void check_depth(const Expression& expression, const std::string& text,
                   const std::string& location) const;
  static bool is_in(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  static bool is_itself(const ExportedEquation& equation) {
    return equation.expression->kind == ExpressionNode::Kind::name &&
           equation.expression->symbol == equation.name;
  }
  void read_equations();
  void read_events();
  std::vector<std::string> names_used_by(const Relation& relation) const;
  void watch(std::size_t relation);
  void find_tables();
  void choose_names();
  std::string fresh(const std::string& wanted, const char* ending, const char* role);
  void add(VariableRole role, std::size_t index, const std::string& name, const std::string& unit,
           double start);
  void add_state(std::size_t index, bool is_output);
  void add_discrete(std::size_t index, bool is_output);
  void add_output(const Text& output, std::size_t& computed);
  void add_derivatives();
  void add_all();
  void note_missing_starts();

  const Description& description_;
  SmoothEquations smooth_;
  NamesBehind names_behind_;
  ExportedModel result_;
  std::map<std::string, std::string> units_, state_names_, output_names_, discrete_names_;
  std::set<std::string> merged_, taken_;
  std::string time_;
};

void Layout::check_depth(const Expression& expression, const std::string& text,
                         const std::string& location) const {
  if (nesting(expression) > deepest)
    refuse(PlacedExpression{text, location + ": subsystem '" + description_.subsystem + "'"}, 0,
           "the expression nests more than " + std::to_string(deepest) +
               " levels deep, too deep for compilers of C; simplify it");
}

void Layout::read_equations() {
  result_.states = names_of(description_.states);
  result_.inputs = names_of(description_.inputs);
  result_.parameters = names_of(description_.parameters);
  result_.discrete = names_of(description_.discrete);
  result_.definitions = smooth_.names().definitions;
  for (const auto& [name, meaning] : result_.definitions)
    check_depth(meaning, in_words(meaning), description_.location);
  for (const Text& variable : description_.variables)
    check_depth(result_.definitions.at(variable.name), variable.text, variable.location);
  for (std::size_t i = 0; i < result_.states.size(); ++i)
    for (const Text& text : description_.derivatives)
      if (text.name == result_.states[i])
        result_.derivatives.push_back(equation(text, smooth_.derivatives()[i]));
  for (std::size_t i = 0; i < description_.outputs.size(); ++i) {
    ExportedEquation output = equation(description_.outputs[i], smooth_.outputs()[i]);
    const bool there = is_in(result_.states, output.name) || is_in(result_.discrete, output.name);
    if (there && is_itself(output))
      merged_.insert(output.name);
    else
      result_.outputs.push_back(std::move(output));
  }
}

/// By way of definitions and other relations.
std::vector<std::string> Layout::names_used_by(const Relation& relation) const {
  std::set<std::string> found;
  std::vector<const ExpressionNode*> open;
  const auto look_at = [&](const Relation& one) {
    for (const Expression& side : {one.left, one.right})
      if (side) open.push_back(side.get());
  };
  for (look_at(relation); !open.empty();) {
    const ExpressionNode& node = *open.back();
    open.pop_back();
    for (const Expression& argument : node.arguments) open.push_back(argument.get());
    if (node.kind != ExpressionNode::Kind::name || !found.insert(node.symbol).second) continue;
    const auto definition = result_.definitions.find(node.symbol);
    if (definition != result_.definitions.end()) open.push_back(definition->second.get());
    for (std::size_t i = 0; i < smooth_.relations().size(); ++i)
      if (node.symbol == Relations::name(i)) look_at(smooth_.relations()[i]);
  }
  return {found.begin(), found.end()};
}

/// A floor is watched on both sides; that two sides are equal cannot be watched.
void Layout::watch(std::size_t relation) {
  using Side = ExportedWatch::Side;
  const auto& [kind, left, right, text] = smooth_.relations()[relation];
  if (kind == Relation::Kind::equal) return;
  const std::vector<std::string> uses = names_used_by(smooth_.relations()[relation]);
  if (kind != Relation::Kind::floor) {
    result_.events.watched.push_back({relation, Side::truth, uses});
    return;
  }
  result_.events.watched.push_back({relation, Side::below, uses});
  result_.events.watched.push_back({relation, Side::above, uses});
}

void Layout::read_events() {
  ExportedEvents& events = result_.events;
  events.relations = smooth_.relations();
  events.conditions = smooth_.conditions();
  events.whens = smooth_.whens();
  ExpressionNames tunable = smooth_.names();
  tunable.constants.clear();
  for (const std::string& parameter : result_.parameters)
    tunable.variables.emplace(parameter, static_cast<std::uint32_t>(tunable.variables.size()));
  std::vector<std::size_t> timed;
  for (std::size_t i = 0; i < events.relations.size(); ++i)
    smooth_.linear_in_time(events.relations[i], tunable) ? timed.push_back(i) : watch(i);
  events.indicators = events.watched.size();
  for (const std::size_t relation : timed) watch(relation);
  std::size_t result = 0;
  for (const EquationsDescription::When& when : description_.whens) {
    if (!when.every) check_depth(events.whens[result++], when.condition, when.location);
    for (const Text& set : when.sets) check_depth(events.whens[result++], set.text, set.location);
  }
}

/// In the order of their names.
void Layout::find_tables() {
  std::vector<const ExpressionNode*> open;
  const auto look_at = [&](const Expression& tree) {
    if (tree) open.push_back(tree.get());
  };
  for (const auto& [name, meaning] : result_.definitions) look_at(meaning);
  for (const auto* equations : {&result_.derivatives, &result_.outputs})
    for (const ExportedEquation& equation : *equations) look_at(equation.expression);
  for (const Expression& when : result_.events.whens) look_at(when);
  for (const Relation& relation : result_.events.relations)
    for (const Expression& side : {relation.left, relation.right}) look_at(side);
  std::map<std::string, const NumberTable*> found;
  while (!open.empty()) {
    const ExpressionNode& node = *open.back();
    open.pop_back();
    for (const Expression& argument : node.arguments) look_at(argument);
    if (node.kind == ExpressionNode::Kind::number && !node.symbol.empty())
      found[node.symbol] = &NumberTable::of(node.value);
  }
  for (const auto& [name, table] : found) result_.tables.push_back(table);
}

/// `wanted`, or with the ending where it is taken.
std::string Layout::fresh(const std::string& wanted, const char* ending, const char* role) {
  std::string name = wanted;
  for (int k = 1; taken_.contains(name); ++k)
    name = wanted + ending + (k > 1 ? std::to_string(k) : "");
  taken_.insert(name);
  if (name != wanted)
    result_.notes.push_back(std::string("the ") + role + " '" + wanted + "' is called '" + name +
                            "' in the FMU: names must be unique there");
  return name;
}

/// Inputs, parameters and, if possible, outputs keep their names.
void Layout::choose_names() {
  for (const auto* names : {&result_.inputs, &result_.parameters})
    taken_.insert(names->begin(), names->end());
  taken_.insert(merged_.begin(), merged_.end());
  for (const ExportedEquation& output : result_.outputs)
    output_names_[output.name] = fresh(output.name, "_output", "output");
  for (const std::string& state : result_.states)
    state_names_[state] = merged_.contains(state) ? state : fresh(state, "_state", "state");
  for (const std::string& name : result_.discrete)
    discrete_names_[name] =
        merged_.contains(name) ? name : fresh(name, "_discrete", "discrete variable");
  for (time_ = "time"; taken_.contains(time_);) time_ += "_";
}

void Layout::add(VariableRole role, std::size_t index, const std::string& name,
                 const std::string& unit, double start) {
  const std::size_t before[] = {0,
                                1,
                                result_.states.size(),
                                result_.states.size(),
                                result_.inputs.size(),
                                result_.outputs.size(),
                                result_.parameters.size(),
                                result_.discrete.size()};
  std::size_t first = 0;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(role); ++i) first += before[i];
  result_.variables.push_back(
      {role, index, static_cast<unsigned>(first + index), name, unit, start, false, "", false});
}

void Layout::add_state(std::size_t index, bool is_output) {
  const auto& state = description_.states[index];
  add(VariableRole::state, index, state_names_[state.name], units_[state.name], *state.value);
  result_.variables.back().is_output = is_output;
}

void Layout::add_discrete(std::size_t index, bool is_output) {
  const auto& entry = description_.discrete[index];
  add(VariableRole::discrete, index, discrete_names_[entry.name], units_[entry.name], *entry.value);
  result_.variables.back().is_output = is_output;
  result_.variables.back().is_held = true;
}

/// `computed`: how many have been added that are not one with others.
void Layout::add_output(const Text& output, std::size_t& computed) {
  const auto place_in = [&](const std::vector<std::string>& names) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), output.name) -
                                    names.begin());
  };
  if (!merged_.contains(output.name)) {
    const bool held = smooth_.kind(result_.outputs[computed].expression) == SignalKind::held;
    add(VariableRole::output, computed++, output_names_[output.name], units_[output.name], 0.0);
    result_.variables.back().is_output = true;
    result_.variables.back().is_held = held;
    result_.variables.back().description = output.text;
  } else if (is_in(result_.states, output.name)) {
    add_state(place_in(result_.states), true);
  } else {
    add_discrete(place_in(result_.discrete), true);
  }
}

void Layout::add_derivatives() {
  for (std::size_t i = 0; i < result_.states.size(); ++i) {
    const std::string& state = result_.states[i];
    const std::string unit = units_[state];
    add(VariableRole::derivative, i, "der(" + state_names_[state] + ")",
        unit.empty() ? "" : unit + "/s", 0.0);
    for (const Text& text : description_.derivatives)
      if (text.name == state) result_.variables.back().description = text.text;
  }
}

/// Time, inputs, outputs, other states, derivatives, other discrete variables, parameters, event
/// indicators.
void Layout::add_all() {
  add(VariableRole::time, 0, time_, "s", 0.0);
  for (std::size_t i = 0; i < description_.inputs.size(); ++i) {
    const auto& input = description_.inputs[i];
    add(VariableRole::input, i, input.name, units_[input.name], input.value.value_or(0.0));
  }
  std::size_t computed = 0;
  for (const Text& output : description_.outputs) add_output(output, computed);
  for (std::size_t i = 0; i < result_.states.size(); ++i)
    if (!merged_.contains(result_.states[i])) add_state(i, false);
  add_derivatives();
  for (std::size_t i = 0; i < result_.discrete.size(); ++i)
    if (!merged_.contains(result_.discrete[i])) add_discrete(i, false);
  for (std::size_t i = 0; i < description_.parameters.size(); ++i) {
    const auto& parameter = description_.parameters[i];
    add(VariableRole::parameter, i, parameter.name, units_[parameter.name], *parameter.value);
  }
  for (std::size_t i = 0; i < result_.events.indicators; ++i) {
    add(VariableRole::indicator, i,
        fresh("event_indicator_" + std::to_string(i + 1), "_", "event indicator"), "", 0.0);
    result_.variables.back().description =
        result_.events.relations[result_.events.watched[i].relation].text;
  }
}

void Layout::note_missing_starts() {
  for (const auto& input : description_.inputs)
    if (!input.value)
      result_.notes.push_back("the input '" + input.name +
                              "' has no start value; an FMU needs one, and gets 0");
}

}  // namespace

std::size_t ExportedModel::position(VariableRole role, std::size_t index) const {
  std::size_t i = 0;
  while (variables[i].role != role || variables[i].index != index) ++i;
  return i;
}

const ExportedVariable& ExportedModel::variable(VariableRole role, std::size_t index) const {
  return variables[position(role, index)];
}

const ExportedVariable* ExportedModel::known(const std::string& word) const {
  const auto in = [&](const std::vector<std::string>& names,
                      VariableRole role) -> const ExportedVariable* {
    const auto found = std::find(names.begin(), names.end(), word);
    return found == names.end() ? nullptr
                                : &variable(role, static_cast<std::size_t>(found - names.begin()));
  };
  if (word == "t") return &variable(VariableRole::time, 0);
  if (const auto* state = in(states, VariableRole::state)) return state;
  if (const auto* input = in(inputs, VariableRole::input)) return input;
  if (const auto* held = in(discrete, VariableRole::discrete)) return held;
  return in(parameters, VariableRole::parameter);
}

std::vector<double> ExportedModel::starts(VariableRole role) const {
  std::map<std::size_t, double> by_index;
  for (const ExportedVariable& variable : variables)
    if (variable.role == role) by_index[variable.index] = variable.start;
  std::vector<double> result;
  for (const auto& [index, start] : by_index) result.push_back(start);
  return result;
}

ExportedModel lay_out(const EquationsDescription& description) {
  const EquationsModel check(description);
  return Layout(description).make();
}

}  // namespace concord
