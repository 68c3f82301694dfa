#include "modelfile/yaml/equations_reader.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "expression/expression_scan.hpp"
#include "expression/user_functions.hpp"
#include "modelfile/yaml/function_reader.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "subsystem/equations/dimension_check.hpp"
#include "subsystem/equations/equations_model.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using NumberEntry = EquationsDescription::Number;
using TextEntry = EquationsDescription::Text;
using Fields = std::vector<Field>;

Fields section(const Fields& fields, const char* key, const char* role, const std::string& owner) {
  const auto node = find_field(fields, key);
  return node ? node->named_fields(role, owner) : Fields{};
}

/// Parameters, which may name each other, in the order of the file.
std::vector<NumberEntry> read_parameters(const Fields& fields, const Constants& values) {
  std::vector<NumberEntry> result;
  for (const auto& [key, location, value] : fields) {
    result.push_back({key, values.values.at(key), location});
  }
  return result;
}

std::vector<NumberEntry> read_numbers(const Fields& fields, const Constants& constants) {
  std::vector<NumberEntry> result;
  for (const auto& [key, location, value] : fields) {
    result.push_back({key, value.number(constants), location});
  }
  return result;
}

/// Inputs may lack a start value: `inputs: {f: , load: 0}`.
std::vector<NumberEntry> read_inputs(const Fields& fields, const Constants& constants) {
  std::vector<NumberEntry> result;
  for (const auto& [key, location, value] : fields) {
    result.push_back(
        {key, value.is_null() ? std::nullopt : std::optional(value.number(constants)), location});
  }
  return result;
}

std::vector<TextEntry> read_texts(const Fields& fields) {
  std::vector<TextEntry> result;
  for (const auto& [key, location, value] : fields) {
    result.push_back({key, value.text(), value.location()});
  }
  return result;
}

std::vector<TextEntry> read_units(const Fields& fields) {
  std::vector<TextEntry> result;
  for (const auto& [key, location, value] : fields) {
    result.push_back({key, value.is_null() ? "" : value.text(), value.location()});
  }
  return result;
}

/// Changes of what equations name so.
Fields changes_of_equations(const std::string& name, const NodeReader& node,
                            const std::vector<std::string>& names, const Fields& units,
                            const SubsystemSurroundings& around) {
  ModelChanges changes = around.changes.of(name, names);
  for (ModelChange& change : changes) {
    const auto unit = find_field(units, change.name);
    convert(change, unit && !unit->is_null() ? unit->text() : "");
  }
  return around.changed.of(changes, node.what());
}

Fields::iterator find_key(Fields& fields, const std::string& key) {
  return std::find_if(fields.begin(), fields.end(),
                      [&](const Field& field) { return field.key == key; });
}

/// Values in the place of those that stand in one of the lists.
void replace(const Fields& changes, std::initializer_list<Fields*> lists, const std::string& what,
             const std::string& owner) {
  for (const Field& change : changes) {
    bool found = false;
    std::vector<std::string> candidates;
    for (Fields* list : lists) {
      const auto place = find_key(*list, change.key);
      found = found || place != list->end();
      if (place != list->end()) {
        *place = change;
      }
      for (const Field& entry : *list) {
        candidates.push_back(entry.key);
      }
    }
    if (!found) {
      throw InputError(change.key_location + ": " + owner + " has no " + what + " " +
                       in_quotes(change.key) + "; " + known("names", change.key, candidates));
    }
  }
}

/// Parameters of the model that expressions name are parameters of the subsystem, too.
void take_model_parameters(const Constants& constants, const std::string& location,
                           EquationsDescription& equations) {
  std::set<std::string> own;
  for (const auto* entries :
       {&equations.parameters, &equations.inputs, &equations.states, &equations.discrete}) {
    for (const NumberEntry& entry : *entries) {
      own.insert(entry.name);
    }
  }
  for (const TextEntry& variable : equations.variables) {
    own.insert(variable.name);
  }
  const auto take_one = [&](const std::string& name) {
    const auto found = constants.values.find(name);
    if (found != constants.values.end() && own.insert(name).second) {
      equations.parameters.push_back({name, found->second, location});
    }
  };
  const auto take = [&](const std::string& text) {
    for (const NameUse& use : names_used(text)) {
      const UserFunction* const called =
          use.called ? find_own(equations.functions.get(), use.name) : nullptr;
      if (called != nullptr) {
        std::ranges::for_each(called->parameters, take_one);
      } else {
        take_one(use.name);
      }
    }
  };
  const auto take_all = [&](const std::vector<TextEntry>& texts) {
    for (const TextEntry& text : texts) {
      take(text.text);
    }
  };
  for (const auto* texts : {&equations.derivatives, &equations.outputs, &equations.variables}) {
    take_all(*texts);
  }
  for (const EquationsDescription::When& when : equations.whens) {
    take(when.condition);
    take_all(when.sets);
  }
}

EquationsDescription::When read_when(const NodeReader& node, const Constants& constants) {
  EquationsDescription::When result;
  const Fields fields = node.fields_among(when_keys);
  const auto condition = find_field(fields, "condition"), every = find_field(fields, "every");
  const auto offset = find_field(fields, "offset"), set = find_field(fields, "set");
  const auto initially = find_field(fields, "initially");
  if (condition.has_value() == every.has_value()) {
    node.fail("needs either 'condition', an expression, or 'every', the time between ticks in s");
  }
  if (offset && !every) {
    offset->fail("belongs to 'every'; a condition has none");
  }
  if (initially && every) {
    initially->fail("belongs to 'condition'; ticks come at the start where their offset says so");
  }
  result.condition = condition ? condition->text() : "";
  result.every = every ? std::optional(every->number(constants)) : std::nullopt;
  result.offset = offset ? offset->number(constants) : 0.0;
  result.initially = initially && initially->flag();
  result.sets = read_texts(set->named_fields("set of", node.what()));
  result.location = node.location();
  return result;
}

std::vector<EquationsDescription::When> read_whens(const NodeReader& node,
                                                   const Constants& constants) {
  std::vector<EquationsDescription::When> result;
  for (const NodeReader& item : node.items("when")) {
    result.push_back(read_when(item, constants));
  }
  return result;
}

EquationsDescription read_equations(const std::string& name, const NodeReader& node,
                                    const SubsystemParts& given,
                                    const SubsystemSurroundings& around) {
  const auto entry = *find_field(given.kind, "equations");
  const Fields parts = entry.fields_among(equations_keys);
  const std::string& of = node.what();
  Fields parameters = section(parts, "parameters", "parameter", of);
  Fields inputs = section(parts, "inputs", "input", of);
  Fields states = section(parts, "states", "state", of);
  Fields discrete = section(parts, "discrete", "discrete variable", of);
  const Fields units = section(parts, "units", "unit", of);
  replace(given.parameters, {&parameters}, "parameter", of);
  const std::string last = discrete.empty() ? " or state" : ", state or discrete variable";
  replace(given.start, {&states, &inputs, &discrete}, "input" + last, of);
  replace(changes_of_equations(name, node, keys_of({&parameters, &states, &inputs, &discrete}),
                               units, around),
          {&parameters, &states, &inputs, &discrete}, "parameter, input" + last, of);
  const Fields variables = section(parts, "variables", "variable", of);
  Constants known = given.constants;
  keep_in_functions(keys_of({&parameters, &inputs, &states, &discrete, &variables}), known);
  if (const auto functions = find_field(parts, "functions")) {
    read_functions(functions->fields("function", of), keys_of({&parameters}), known);
  }
  const Constants constants = resolved(parameters, known);
  EquationsDescription result;
  result.functions = known.functions;
  result.subsystem = name;
  result.location = node.location();
  result.parameters = read_parameters(parameters, constants);
  result.inputs = read_inputs(inputs, constants);
  result.states = read_numbers(states, constants);
  result.discrete = read_numbers(discrete, constants);
  if (const auto whens = find_field(parts, "when")) {
    result.whens = read_whens(*whens, constants);
  }
  result.variables = read_texts(variables);
  result.derivatives = read_texts(section(parts, "derivatives", "derivative", of));
  result.outputs = read_texts(section(parts, "outputs", "output", of));
  result.units = read_units(units);
  result.nominal = read_numbers(section(parts, "nominal", "nominal value", of), constants);
  take_model_parameters(given.constants, node.location(), result);
  return result;
}

/// What sets read is what was before; of a name that is set at the same instant that may surprise.
std::vector<std::string> notes_on(const EquationsDescription& equations) {
  std::vector<std::string> notes;
  for (const EquationsDescription::When& when : equations.whens) {
    const std::vector<std::string> set = names_of(when.sets);
    for (const TextEntry& text : when.sets) {
      for (const NameUse& use : names_used(text.text)) {
        const std::string before = text.text.substr(0, use.position);
        const bool says_so = before.ends_with("pre(");
        if (!says_so && std::find(set.begin(), set.end(), use.name) != set.end()) {
          notes.push_back(text.location + ": '" + text.name + "' is set from what '" + use.name +
                          "' was before; pre(" + use.name + ") says so");
        }
      }
    }
  }
  return notes;
}

}  // namespace

SubsystemEntry equations_entry(std::shared_ptr<const EquationsDescription> description) {
  SubsystemEntry entry;
  entry.location = description->location;
  entry.equations = description;
  if (!description->discrete.empty())
    entry.identity = "discrete variables " + joined(names_of(description->discrete));
  const EquationsModel model(*description);
  entry.description = describe_ode(description->subsystem, "equations", model.interface());
  entry.description.events = model.has_events();
  entry.description.remarks = notes_on(*description);
  entry.create = [description, shown = entry.description](const SubsystemSettings& settings) {
    return make_ode_subsystem(shown, std::make_unique<EquationsModel>(description), settings);
  };
  return entry;
}

SubsystemEntry equations_entry(const std::string& name, const NodeReader& node,
                               const SubsystemParts& parts, const SubsystemSurroundings& around) {
  auto description =
      std::make_shared<const EquationsDescription>(read_equations(name, node, parts, around));
  SubsystemEntry entry = equations_entry(description);
  if (around.checked->insert(find_field(parts.kind, "equations")->location()).second) {
    entry.notes = check_dimensions(*description);
  }
  return entry;
}

}  // namespace concord
