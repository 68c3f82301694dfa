#include "subsystem/equations/equations_checks.hpp"

#include <set>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "concord/errors.hpp"
#include "expression/expression_scan.hpp"
#include "expression/functions.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {

void refuse(const EquationsDescription& description, const std::string& location,
            const std::string& message) {
  const std::string& owner = description.subsystem;
  throw InputError(location + ": " + (owner.empty() ? "" : "subsystem '" + owner + "': ") +
                   message);
}

namespace {

using Number = EquationsDescription::Number;
using Text = EquationsDescription::Text;

/// Parameters, inputs, states and variables share the names of the expressions.
void check_variable_names(const EquationsDescription& description) {
  std::unordered_map<std::string, std::string> roles = {{"t", "the time"}, {"time", "the time"}};
  const auto claim = [&](const auto& entries, const std::string& role) {
    for (const auto& entry : entries) {
      const std::string& name = entry.name;
      const std::string& location = entry.location;
      const std::string found = role + " '" + name + "'";
      if (!is_variable_name(name)) {
        refuse(description, location,
               found + " is not a name: use letters, digits and _, not starting with a digit");
      }
      if (is_reserved_in_expressions(name)) {
        refuse(description, location,
               found + " clashes with the function or constant of that name; choose another name");
      }
      const auto [other, is_new] = roles.emplace(name, role);
      if (!is_new) {
        refuse(description, location,
               found + " clashes with " + other->second + " of that name; choose another name");
      }
    }
  };
  claim(description.parameters, "parameter");
  claim(description.inputs, "input");
  claim(description.states, "state");
  claim(description.discrete, "discrete variable");
  claim(description.variables, "variable");
}

void check_distinct(const EquationsDescription& description, const std::vector<Text>& entries,
                    const std::string& role) {
  std::set<std::string> seen;
  for (const Text& entry : entries) {
    if (!is_variable_name(entry.name)) {
      refuse(description, entry.location,
             role + " '" + entry.name +
                 "' is not a name: use letters, digits and _, not starting with a digit");
    }
    if (!seen.insert(entry.name).second) {
      refuse(description, entry.location,
             role + " '" + entry.name + "' is there twice; remove one");
    }
  }
}

void check_values(const EquationsDescription& description) {
  for (const auto* entries :
       {&description.parameters, &description.states, &description.discrete}) {
    for (const Number& entry : *entries) {
      if (!entry.value) {
        refuse(description, entry.location,
               "'" + entry.name +
                   "' has no value; parameters, states and discrete variables need a number");
      }
    }
  }
}

void check_derivatives(const EquationsDescription& description) {
  const std::vector<std::string> states = names_of(description.states);
  const std::vector<std::string> derivatives = names_of(description.derivatives);
  const std::unordered_set<std::string> known_states(states.begin(), states.end()),
      derived(derivatives.begin(), derivatives.end());
  for (const Text& entry : description.derivatives) {
    if (!known_states.contains(entry.name)) {
      refuse(description, entry.location,
             "derivative of '" + entry.name +
                 "', which is not a state; add it to states (with its " +
                 "start value) or correct the name; " + known("states", entry.name, states));
    }
  }
  for (const Number& state : description.states) {
    if (!derived.contains(state.name)) {
      refuse(description, state.location,
             "state '" + state.name + "' has no derivative; add '" + state.name +
                 ": <expression>' to derivatives");
    }
  }
}

/// Names that may have units.
std::vector<std::string> names_with_units(const EquationsDescription& description) {
  std::vector<std::string> result;
  for (const auto& names : {names_of(description.parameters), names_of(description.inputs),
                            names_of(description.states), names_of(description.outputs)}) {
    result.insert(result.end(), names.begin(), names.end());
  }
  return result;
}

void check_units(const EquationsDescription& description) {
  const std::vector<std::string> candidates = names_with_units(description);
  const std::unordered_set<std::string> names(candidates.begin(), candidates.end());
  for (const auto* units : {&description.units, &description.display}) {
    for (const Text& unit : *units) {
      if (!names.contains(unit.name)) {
        refuse(description, unit.location,
               "unit of an unknown name '" + unit.name + "'; " +
                   known("names", unit.name, candidates));
      }
    }
  }
}

/// What is shown in another unit has one that leads there.
void check_display(const EquationsDescription& description) {
  std::unordered_map<std::string, std::string> units;
  for (const Text& unit : description.units) {
    units.emplace(unit.name, unit.text);
  }
  for (const Text& shown : description.display) {
    const std::string& unit = units[shown.name];
    if (unit.empty() ||
        !std::holds_alternative<UnitConversion>(unit_conversion(unit, shown.text))) {
      refuse(description, shown.location,
             "'" + shown.name + "' cannot be shown in " + in_quotes(shown.text) + ": its unit is " +
                 (unit.empty() ? "not given; add it to units" : in_quotes(unit)));
    }
  }
}

void check_nominals(const EquationsDescription& description) {
  std::vector<std::string> candidates;
  for (const auto& names : {names_of(description.inputs), names_of(description.states),
                            names_of(description.outputs)}) {
    candidates.insert(candidates.end(), names.begin(), names.end());
  }
  const std::unordered_set<std::string> names(candidates.begin(), candidates.end());
  for (const Number& nominal : description.nominal) {
    if (!names.contains(nominal.name)) {
      refuse(description, nominal.location,
             "nominal value of an unknown name '" + nominal.name + "'; " +
                 known("names", nominal.name, candidates));
    }
    if (!(*nominal.value > 0.0)) {
      refuse(description, nominal.location,
             "the nominal value of '" + nominal.name + "' is " + short_number(*nominal.value) +
                 "; it is the variable's usual magnitude, greater than 0");
    }
  }
}

/// What conditions set must be there, once each; `pre` stands nowhere else.
void check_whens(const EquationsDescription& description) {
  std::vector<std::string> settable = names_of(description.states);
  for (const std::string& name : names_of(description.discrete)) {
    settable.push_back(name);
  }
  const std::unordered_set<std::string> names(settable.begin(), settable.end());
  for (const EquationsDescription::When& when : description.whens) {
    check_distinct(description, when.sets, "set of");
    for (const Text& set : when.sets) {
      if (!names.contains(set.name)) {
        refuse(description, set.location,
               "'" + set.name + "' is set by a condition, but is neither a state nor discrete; " +
                   known("states and discrete variables", set.name, settable));
      }
    }
    if (when.every && !(*when.every > 0.0)) {
      refuse(description, when.location,
             "ticks come every " + short_number(*when.every) + " s; give a time greater than 0");
    }
  }
  for (const auto* texts : {&description.derivatives, &description.outputs}) {
    for (const Text& text : *texts) {
      for (const NameUse& use : names_used(text.text)) {
        if (use.called && use.name == "pre") {
          refuse(description, text.location,
                 "'" + text.name +
                     "' uses pre(...), which says what was before an event; it stands "
                     "in 'when' only");
        }
      }
    }
  }
}

}  // namespace

const EquationsDescription& checked(const EquationsDescription& description) {
  check_variable_names(description);
  check_values(description);
  check_distinct(description, description.derivatives, "derivative");
  check_distinct(description, description.outputs, "output");
  check_distinct(description, description.units, "unit");
  check_derivatives(description);
  check_units(description);
  check_display(description);
  check_nominals(description);
  check_whens(description);
  return description;
}

}  // namespace concord
