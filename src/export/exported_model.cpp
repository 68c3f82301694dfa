#include "export/exported_model.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "concord/errors.hpp"
#include "expression/expression_scan.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Description = EquationsDescription;
using Text = EquationsDescription::Text;

/// Levels of an expression in C.
constexpr std::size_t deepest = 400;

/// Functions and operations that step or have a kink.
const std::set<std::string> not_smooth = {
    "abs", "sign", "min", "max", "floor", "ceil", "round", "mod", "rem", "if",
    "?",   "<",    ">",   "<=",  ">=",    "==",   "!=",    "&&",  "||",  "!"};

void find_kinks(const Expression& expression, std::set<std::string>& found) {
  if (not_smooth.contains(expression->symbol)) found.insert(expression->symbol);
  for (const Expression& argument : expression->arguments) find_kinks(argument, found);
}

/// Makes an ExportedModel.
class Layout {
 public:
  explicit Layout(const Description& description)
      : description_(description),
        definitions_(definitions_of(description)),
        names_behind_(description) {
    result_.name = description.subsystem;
    for (const Text& unit : description.units) units_[unit.name] = unit.text;
  }

  ExportedModel make() {
    refuse_events();
    read_equations();
    choose_names();
    add_all();
    note_missing_starts();
    note_kinks();
    return std::move(result_);
  }

 private:
  ExportedEquation equation(const Text& text) const {
    const PlacedExpression placed{text.text,
                                  text.location + ": subsystem '" + description_.subsystem + "'"};
    ExportedEquation result{text.name, written_out(parse_expression(placed)), {}};
    if (nesting(result.expression) > deepest)
      refuse(placed, 0,
             "the expression nests more than " + std::to_string(deepest) +
                 " levels deep, too deep for compilers of C; simplify it");
    const std::set<std::string> uses = names_behind_(text.text);
    result.uses.assign(uses.begin(), uses.end());
    return result;
  }

  /// With what variables stand for in their place.
  Expression written_out(const Expression& expression) const {
    if (definitions_.empty()) return expression;
    const bool is_name = expression->kind == ExpressionNode::Kind::name;
    if (is_name && definitions_.contains(expression->symbol))
      return written_out(definitions_.at(expression->symbol));
    ExpressionNode result = *expression;
    bool changed = false;
    for (Expression& argument : result.arguments) {
      const Expression before = argument;
      argument = written_out(before);
      changed = changed || argument != before;
    }
    return changed ? std::make_shared<const ExpressionNode>(std::move(result)) : expression;
  }
  bool is_state(const std::string& name) const {
    return std::find(result_.states.begin(), result_.states.end(), name) != result_.states.end();
  }
  static bool is_itself(const ExportedEquation& equation) {
    return equation.expression->kind == ExpressionNode::Kind::name &&
           equation.expression->symbol == equation.name;
  }
  void read_equations();
  void choose_names();
  std::string fresh(const std::string& wanted, const char* ending, const char* role);
  void add(VariableRole role, std::size_t index, const std::string& name, const std::string& unit,
           double start);
  void add_state(std::size_t index, bool is_output);
  void add_all();
  void note_missing_starts();
  void refuse_events() const;
  void note_kinks();

  const Description& description_;
  std::unordered_map<std::string, Expression> definitions_;
  NamesBehind names_behind_;
  ExportedModel result_;
  std::map<std::string, std::string> units_, state_names_, output_names_, texts_;
  std::set<std::string> merged_, taken_;
  std::string time_;
};

void Layout::read_equations() {
  for (const auto& entry : description_.states) result_.states.push_back(entry.name);
  for (const auto& entry : description_.inputs) result_.inputs.push_back(entry.name);
  for (const auto& entry : description_.parameters) result_.parameters.push_back(entry.name);
  for (const std::string& state : result_.states)
    for (const Text& text : description_.derivatives)
      if (text.name == state) result_.derivatives.push_back(equation(text));
  for (const Text& text : description_.outputs) {
    ExportedEquation output = equation(text);
    if (is_state(output.name) && is_itself(output))
      merged_.insert(output.name);
    else
      result_.outputs.push_back(std::move(output));
  }
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
  for (time_ = "time"; taken_.contains(time_);) time_ += "_";
}

void Layout::add(VariableRole role, std::size_t index, const std::string& name,
                 const std::string& unit, double start) {
  const std::size_t before[] = {0,
                                1,
                                result_.states.size(),
                                result_.states.size(),
                                result_.inputs.size(),
                                result_.outputs.size()};
  std::size_t first = 0;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(role); ++i) first += before[i];
  result_.variables.push_back(
      {role, index, static_cast<unsigned>(first + index), name, unit, start, false, ""});
}

void Layout::add_state(std::size_t index, bool is_output) {
  const auto& state = description_.states[index];
  add(VariableRole::state, index, state_names_[state.name], units_[state.name], *state.value);
  result_.variables.back().is_output = is_output;
}

/// Time, inputs, outputs, other states, derivatives, parameters.
void Layout::add_all() {
  add(VariableRole::time, 0, time_, "s", 0.0);
  for (std::size_t i = 0; i < description_.inputs.size(); ++i) {
    const auto& input = description_.inputs[i];
    add(VariableRole::input, i, input.name, units_[input.name], input.value.value_or(0.0));
  }
  std::size_t computed = 0;
  for (const Text& output : description_.outputs) {
    if (merged_.contains(output.name)) {
      const auto state = std::find(result_.states.begin(), result_.states.end(), output.name);
      add_state(static_cast<std::size_t>(state - result_.states.begin()), true);
      continue;
    }
    add(VariableRole::output, computed++, output_names_[output.name], units_[output.name], 0.0);
    result_.variables.back().is_output = true;
    result_.variables.back().description = output.text;
  }
  for (std::size_t i = 0; i < result_.states.size(); ++i)
    if (!merged_.contains(result_.states[i])) add_state(i, false);
  for (std::size_t i = 0; i < result_.states.size(); ++i) {
    const std::string& state = result_.states[i];
    const std::string unit = units_[state];
    add(VariableRole::derivative, i, "der(" + state_names_[state] + ")",
        unit.empty() ? "" : unit + "/s", 0.0);
    for (const Text& text : description_.derivatives)
      if (text.name == state) result_.variables.back().description = text.text;
  }
  for (std::size_t i = 0; i < description_.parameters.size(); ++i) {
    const auto& parameter = description_.parameters[i];
    add(VariableRole::parameter, i, parameter.name, units_[parameter.name], *parameter.value);
  }
}

void Layout::note_missing_starts() {
  for (const auto& input : description_.inputs)
    if (!input.value)
      result_.notes.push_back("the input '" + input.name +
                              "' has no start value; an FMU needs one, and gets 0");
}

void Layout::refuse_events() const {
  const char* const what = !description_.whens.empty()      ? "'when'"
                           : !description_.discrete.empty() ? "'discrete'"
                                                            : nullptr;
  if (what != nullptr)
    throw InputError(description_.location + ": subsystem '" + description_.subsystem + "' has " +
                     what + ", which exported FMUs have no events for; keep it in a model file");
}

void Layout::note_kinks() {
  std::set<std::string> kinks;
  for (const auto* equations : {&result_.derivatives, &result_.outputs})
    for (const ExportedEquation& equation : *equations) find_kinks(equation.expression, kinks);
  if (!kinks.empty())
    result_.notes.push_back(
        "the equations use " + joined(std::vector<std::string>(kinks.begin(), kinks.end()), " ") +
        ": the FMU announces no state events there, integrators find the kinks by their error "
        "control alone");
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
