#include "subsystem/equations/equations_model.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "concord/errors.hpp"
#include "expression/expression_scan.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Number = EquationsDescription::Number;
using Text = EquationsDescription::Text;

[[noreturn]] void fail(const EquationsDescription& description, const std::string& location,
                       const std::string& message) {
  throw InputError(location + ": subsystem '" + description.subsystem + "': " + message);
}

/// Parameters, inputs, states and variables share the names of the expressions.
void check_variable_names(const EquationsDescription& description) {
  std::unordered_map<std::string, std::string> roles = {{"t", "the time"}, {"time", "the time"}};
  const auto claim = [&](const auto& entries, const std::string& role) {
    for (const auto& entry : entries) {
      const std::string& name = entry.name;
      const std::string& location = entry.location;
      const std::string found = role + " '" + name + "'";
      if (!is_name(name)) {
        fail(description, location,
             found + " is not a name: use letters, digits and _, not starting with a digit");
      }
      if (is_reserved_in_expressions(name)) {
        fail(description, location,
             found + " clashes with the function or constant of that name; choose another name");
      }
      const auto [other, is_new] = roles.emplace(name, role);
      if (!is_new) {
        fail(description, location,
             found + " clashes with " + other->second + " of that name; choose another name");
      }
    }
  };
  claim(description.parameters, "parameter");
  claim(description.inputs, "input");
  claim(description.states, "state");
  claim(description.variables, "variable");
}

void check_distinct(const EquationsDescription& description, const std::vector<Text>& entries,
                    const std::string& role) {
  std::set<std::string> seen;
  for (const Text& entry : entries) {
    if (!is_name(entry.name)) {
      fail(description, entry.location,
           role + " '" + entry.name +
               "' is not a name: use letters, digits and _, not starting with a digit");
    }
    if (!seen.insert(entry.name).second) {
      fail(description, entry.location, role + " '" + entry.name + "' is there twice; remove one");
    }
  }
}

void check_values(const EquationsDescription& description) {
  for (const auto* entries : {&description.parameters, &description.states}) {
    for (const Number& entry : *entries) {
      if (!entry.value) {
        fail(description, entry.location,
             "'" + entry.name + "' has no value; parameters and states need a number");
      }
    }
  }
}

void check_derivatives(const EquationsDescription& description) {
  const std::vector<std::string> states = names_of(description.states);
  const std::vector<std::string> derivatives = names_of(description.derivatives);
  for (const Text& entry : description.derivatives) {
    if (std::find(states.begin(), states.end(), entry.name) == states.end()) {
      fail(description, entry.location,
           "derivative of '" + entry.name + "', which is not a state; add it to states (with its " +
               "start value) or correct the name; " + known("states", entry.name, states));
    }
  }
  for (const Number& state : description.states) {
    if (std::find(derivatives.begin(), derivatives.end(), state.name) == derivatives.end()) {
      fail(description, state.location,
           "state '" + state.name + "' has no derivative; add '" + state.name +
               ": <expression>' to derivatives");
    }
  }
}

void check_units(const EquationsDescription& description) {
  std::vector<std::string> candidates;
  for (const auto& names : {names_of(description.parameters), names_of(description.inputs),
                            names_of(description.states), names_of(description.outputs)}) {
    candidates.insert(candidates.end(), names.begin(), names.end());
  }
  for (const Text& unit : description.units) {
    if (std::find(candidates.begin(), candidates.end(), unit.name) == candidates.end()) {
      fail(description, unit.location,
           "unit of an unknown name '" + unit.name + "'; " + known("names", unit.name, candidates));
    }
  }
}

void check_nominals(const EquationsDescription& description) {
  std::vector<std::string> candidates;
  for (const auto& names : {names_of(description.inputs), names_of(description.states),
                            names_of(description.outputs)}) {
    candidates.insert(candidates.end(), names.begin(), names.end());
  }
  for (const Number& nominal : description.nominal) {
    if (std::find(candidates.begin(), candidates.end(), nominal.name) == candidates.end()) {
      fail(description, nominal.location,
           "nominal value of an unknown name '" + nominal.name + "'; " +
               known("names", nominal.name, candidates));
    }
    if (!(*nominal.value > 0.0)) {
      fail(description, nominal.location,
           "the nominal value of '" + nominal.name + "' is " + short_number(*nominal.value) +
               "; it is the variable's usual magnitude, greater than 0");
    }
  }
}

const EquationsDescription& checked(const EquationsDescription& description) {
  check_variable_names(description);
  check_values(description);
  check_distinct(description, description.derivatives, "derivative");
  check_distinct(description, description.outputs, "output");
  check_distinct(description, description.units, "unit");
  check_derivatives(description);
  check_units(description);
  check_nominals(description);
  return description;
}

std::vector<Feedthrough> feedthrough(const EquationsDescription& description) {
  const NamesBehind names_behind(description);
  std::unordered_map<std::string, std::size_t> inputs;
  for (std::size_t i = 0; i < description.inputs.size(); ++i) {
    inputs.emplace(description.inputs[i].name, i);
  }
  std::vector<Feedthrough> result;
  for (std::size_t output = 0; output < description.outputs.size(); ++output) {
    std::set<std::size_t> used;
    for (const std::string& name : names_behind(description.outputs[output].text)) {
      if (const auto input = inputs.find(name); input != inputs.end()) {
        used.insert(input->second);
      }
    }
    for (const std::size_t input : used) {
      result.push_back({output, input});
    }
  }
  return result;
}

bool uses_time(const EquationsDescription& description) {
  const NamesBehind names_behind(description);
  const auto in = [&](const std::vector<Text>& texts) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const Text& text) { return names_behind(text.text).contains("t"); });
  };
  return in(description.derivatives) || in(description.outputs);
}

OdeInterface make_interface(const EquationsDescription& description) {
  std::unordered_map<std::string, std::string> units;
  for (const Text& unit : description.units) {
    units.emplace(unit.name, unit.text);
  }
  std::unordered_map<std::string, double> nominal;
  for (const Number& entry : description.nominal) {
    nominal.emplace(entry.name, *entry.value);
  }
  OdeInterface result;
  result.time_dependent = uses_time(description);
  result.parameters = names_of(description.parameters);
  for (const Number& input : description.inputs) {
    result.inputs.push_back({input.name, units[input.name], input.value, nominal[input.name]});
  }
  for (const Number& state : description.states) {
    result.states.push_back({state.name, units[state.name], *state.value, nominal[state.name]});
  }
  for (const Text& output : description.outputs) {
    result.outputs.push_back({output.name, units[output.name], nominal[output.name]});
  }
  result.feedthrough = feedthrough(description);
  return result;
}

PlacedExpression placed(const EquationsDescription& description, const Text& entry,
                        const std::string& role) {
  return {entry.text, entry.location + ": subsystem '" + description.subsystem + "', " + role +
                          " '" + entry.name + "'"};
}

/// The derivatives in the order of the states.
std::vector<PlacedExpression> placed_derivatives(const EquationsDescription& description) {
  std::unordered_map<std::string, const Text*> by_state;
  for (const Text& entry : description.derivatives) {
    by_state.emplace(entry.name, &entry);
  }
  std::vector<PlacedExpression> result;
  for (const Number& state : description.states) {
    result.push_back(placed(description, *by_state.at(state.name), "derivative of"));
  }
  return result;
}

std::vector<PlacedExpression> placed_outputs(const EquationsDescription& description) {
  std::vector<PlacedExpression> result;
  for (const Text& entry : description.outputs) {
    result.push_back(placed(description, entry, "output"));
  }
  return result;
}

/// t, states and inputs are variables of the compiled expressions.
ExpressionNames point_names(const EquationsDescription& description) {
  ExpressionNames result;
  std::uint32_t place = 0;
  result.variables.emplace("t", place++);
  for (const auto* entries : {&description.states, &description.inputs}) {
    for (const Number& entry : *entries) {
      result.variables.emplace(entry.name, place++);
    }
  }
  for (const Number& parameter : description.parameters) {
    result.constants.emplace(parameter.name, *parameter.value);
  }
  return result;
}

/// Goes from variable to variable that it uses.
class LoopSearch {
 public:
  explicit LoopSearch(const EquationsDescription& description) : description_(description) {
    for (const Text& variable : description.variables) {
      by_name_.emplace(variable.name, &variable);
    }
  }

  /// Throws InputError where the variable stands, by way of others, for itself.
  void refuse_loops() {
    for (const Text& variable : description_.variables) {
      visit(variable);
    }
  }

 private:
  void visit(const Text& variable) {
    if (done_.contains(variable.name)) {
      return;
    }
    const auto open = std::find(path_.begin(), path_.end(), variable.name);
    if (open != path_.end()) {
      std::vector<std::string> loop(open, path_.end());
      loop.push_back(variable.name);
      fail(description_, variable.location,
           "the variables " + joined(loop, " -> ") +
               " use each other in a loop; make one of them a state, or solve for it");
    }
    path_.push_back(variable.name);
    for (const NameUse& use : names_used(variable.text)) {
      if (const auto other = by_name_.find(use.name); other != by_name_.end()) {
        visit(*other->second);
      }
    }
    path_.pop_back();
    done_.insert(variable.name);
  }

  const EquationsDescription& description_;
  std::unordered_map<std::string, const Text*> by_name_;
  std::vector<std::string> path_;
  std::set<std::string> done_;
};

}  // namespace

NamesBehind::NamesBehind(const EquationsDescription& description) {
  for (const Text& variable : description.variables) {
    variables_.emplace(variable.name, &variable.text);
  }
}

std::set<std::string> NamesBehind::operator()(const std::string& text) const {
  std::set<std::string> result;
  std::vector<const std::string*> open = {&text};
  while (!open.empty()) {
    const std::string& next = *open.back();
    open.pop_back();
    for (const NameUse& use : names_used(next)) {
      const auto variable = variables_.find(use.name);
      if (result.insert(use.name).second && variable != variables_.end()) {
        open.push_back(variable->second);
      }
    }
  }
  return result;
}

std::unordered_map<std::string, Expression> definitions_of(
    const EquationsDescription& description) {
  LoopSearch(description).refuse_loops();
  ExpressionNames names = point_names(description);
  for (const Text& variable : description.variables) {
    names.definitions.emplace(variable.name, nullptr);
  }
  std::unordered_map<std::string, Expression> result;
  for (const Text& variable : description.variables) {
    result.emplace(variable.name,
                   read_expression(placed(description, variable, "variable"), names));
  }
  return result;
}

EquationsModel::EquationsModel(const EquationsDescription& description)
    : description_(checked(description)),
      interface_(make_interface(description_)),
      derivatives_(placed_derivatives(description_), names(description_), point_size()),
      outputs_(placed_outputs(description_), names(description_), point_size()) {
  interface_.constant_jacobians = derivatives_.affine() && outputs_.affine();
}

/// Parameters are constants of the compiled expressions.
bool EquationsModel::set_parameter(std::size_t parameter, double value) {
  description_.parameters[parameter].value = value;
  derivatives_ = {placed_derivatives(description_), names(description_), point_size()};
  outputs_ = {placed_outputs(description_), names(description_), point_size()};
  interface_.constant_jacobians = derivatives_.affine() && outputs_.affine();
  return true;
}

ExpressionNames EquationsModel::names(const EquationsDescription& description) {
  ExpressionNames result = point_names(description);
  result.definitions = definitions_of(description);
  return result;
}

std::size_t EquationsModel::point_size() const {
  return 1 + interface_.states.size() + interface_.inputs.size();
}

void EquationsModel::move_to(std::span<double> point, double t, std::span<const double> x,
                             std::span<const double> u) {
  point[0] = t;
  std::copy(u.begin(), u.end(), std::copy(x.begin(), x.end(), point.begin() + 1));
}

void EquationsModel::derivatives(double t, std::span<const double> x, std::span<const double> u,
                                 std::span<double> dxdt) {
  move_to(derivatives_.point(), t, x, u);
  derivatives_.evaluate(dxdt);
}

void EquationsModel::outputs(double t, std::span<const double> x, std::span<const double> u,
                             std::span<double> y) {
  move_to(outputs_.point(), t, x, u);
  outputs_.evaluate(y);
}

bool EquationsModel::jacobians(double t, std::span<const double> x, std::span<const double> u,
                               const Jacobians& result) {
  const auto spread = [&](ExpressionList& list, std::span<double> by_x, std::span<double> by_u) {
    move_to(list.point(), t, x, u);
    const std::span<const double> values = list.differentiate();
    std::fill(by_x.begin(), by_x.end(), 0.0);
    std::fill(by_u.begin(), by_u.end(), 0.0);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto [row, variable] = list.entries()[k];
      if (variable > x.size())
        by_u[row * u.size() + variable - 1 - x.size()] = values[k];
      else if (variable > 0)
        by_x[row * x.size() + variable - 1] = values[k];
    }
  };
  spread(derivatives_, result.f_x, result.f_u);
  spread(outputs_, result.g_x, result.g_u);
  return true;
}

bool EquationsModel::time_derivatives(double t, std::span<const double> x,
                                      std::span<const double> u, const TimeDerivatives& result) {
  const auto spread = [&](ExpressionList& list, std::span<double> by_t) {
    move_to(list.point(), t, x, u);
    const std::span<const double> values = list.differentiate();
    std::fill(by_t.begin(), by_t.end(), 0.0);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto [row, variable] = list.entries()[k];
      if (variable == 0) by_t[row] = values[k];
    }
  };
  spread(derivatives_, result.f_t);
  spread(outputs_, result.g_t);
  return true;
}

bool EquationsModel::output_slopes(double t, std::span<const double> x, std::span<const double> u,
                                   const Motion& motion, std::span<double> dydt) {
  move_to(outputs_.point(), t, x, u);
  direction_.resize(point_size());
  move_to(direction_, 1.0, motion.dxdt, motion.dudt);
  outputs_.slopes(direction_, dydt);
  return true;
}

}  // namespace concord
