#include "modelfile/yaml/subsystem_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "expression/expression_scan.hpp"
#include "expression/functions.hpp"
#include "modelfile/isolated/isolated_entry.hpp"
#include "modelfile/yaml/fmu_reader.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/repetition.hpp"
#include "modelfile/yaml/table_reader.hpp"
#include "settings/settings.hpp"
#include "subsystem/equations/equations_model.hpp"
#include "subsystem/native/native_model.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {

namespace {

using Number = EquationsDescription::Number;
using Text = EquationsDescription::Text;
using Fields = std::vector<Field>;

Fields section(const Fields& fields, const char* key, const char* role, const std::string& owner) {
  const auto node = find_field(fields, key);
  return node ? node->named_fields(role, owner) : Fields{};
}

/// Parameters, which may name each other, in the order of the file.
std::vector<Number> read_parameters(const Fields& fields, const Constants& values) {
  std::vector<Number> result;
  for (const auto& [key, location, value] : fields) {
    result.push_back({key, values.at(key), location});
  }
  return result;
}

std::vector<Number> read_numbers(const Fields& fields, const Constants& constants) {
  std::vector<Number> result;
  for (const auto& [key, location, value] : fields) {
    result.push_back({key, value.number(constants), location});
  }
  return result;
}

/// Inputs may lack a start value: `inputs: {f: , load: 0}`.
std::vector<Number> read_inputs(const Fields& fields, const Constants& constants) {
  std::vector<Number> result;
  for (const auto& [key, location, value] : fields) {
    result.push_back(
        {key, value.is_null() ? std::nullopt : std::optional(value.number(constants)), location});
  }
  return result;
}

std::vector<Text> read_texts(const Fields& fields) {
  std::vector<Text> result;
  for (const auto& [key, location, value] : fields) {
    result.push_back({key, value.text(), value.location()});
  }
  return result;
}

std::vector<Text> read_units(const Fields& fields) {
  std::vector<Text> result;
  for (const auto& [key, location, value] : fields) {
    result.push_back({key, value.is_null() ? "" : value.text(), value.location()});
  }
  return result;
}

/// What a subsystem is made of, whether it stands in its entry or in a template.
struct Parts {
  Fields kind;               ///< `equations`, `table`, `fmu` or `native`, among others
  Fields parameters, start;  ///< beside it
  std::optional<NodeReader> effort, rank, step, isolated;
  Constants constants;
};

std::vector<std::string> keys_of(std::initializer_list<const Fields*> lists) {
  std::vector<std::string> keys;
  for (const Fields* list : lists) {
    for (const Field& entry : *list) {
      keys.push_back(entry.key);
    }
  }
  return keys;
}

/// A change whose value has a unit of its own, in that of what it changes.
void convert(ModelChange& change, const std::string& unit) {
  if (change.unit.empty() || unit.empty() || change.unit == unit) {
    return;
  }
  const auto number = parse_number(change.text);
  const auto value = number ? converted(*number, change.unit, unit) : std::nullopt;
  if (!value) {
    throw InputError(change.location + ": " + in_quotes(change.name) + " is given in " +
                     in_quotes(change.unit) + ", but the model has it in " + in_quotes(unit) +
                     ", and there is no way from one to the other");
  }
  change.text = exact_number(*value);
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
    for (const Number& entry : *entries) {
      own.insert(entry.name);
    }
  }
  for (const Text& variable : equations.variables) {
    own.insert(variable.name);
  }
  const auto take = [&](const std::string& text) {
    for (const NameUse& use : names_used(text)) {
      const auto found = constants.find(use.name);
      if (found != constants.end() && own.insert(use.name).second) {
        equations.parameters.push_back({use.name, found->second, location});
      }
    }
  };
  const auto take_all = [&](const std::vector<Text>& texts) {
    for (const Text& text : texts) {
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
                                    const Parts& given, const SubsystemSurroundings& around) {
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
  const Constants constants = resolved(parameters, given.constants);
  EquationsDescription result;
  result.subsystem = name;
  result.location = node.location();
  result.parameters = read_parameters(parameters, constants);
  result.inputs = read_inputs(inputs, constants);
  result.states = read_numbers(states, constants);
  result.discrete = read_numbers(discrete, constants);
  if (const auto whens = find_field(parts, "when")) {
    result.whens = read_whens(*whens, constants);
  }
  result.variables = read_texts(section(parts, "variables", "variable", of));
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
    for (const Text& text : when.sets) {
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

SubsystemEntry equations_entry(const std::string& name, const NodeReader& node, const Parts& parts,
                               const SubsystemSurroundings& around) {
  auto description =
      std::make_shared<const EquationsDescription>(read_equations(name, node, parts, around));
  SubsystemEntry entry;
  entry.location = node.location();
  entry.equations = description;
  if (!description->discrete.empty())
    entry.identity = "discrete variables " + joined(names_of(description->discrete));
  const EquationsModel model(*description);
  entry.description = describe_ode(name, "equations", model.interface());
  entry.description.events = model.has_events();
  entry.description.remarks = notes_on(*description);
  entry.create = [description, shown = entry.description](const SubsystemSettings& settings) {
    return make_ode_subsystem(shown, std::make_unique<EquationsModel>(description), settings);
  };
  return entry;
}

NativeDescription read_native(const std::string& name, const NodeReader& node, const Parts& given) {
  const auto native = *find_field(given.kind, "native");
  const Fields parts = native.fields_among(native_keys);
  const NodeReader type = field_of(parts, "type");
  const auto library = find_field(parts, "library");
  NativeDescription result;
  result.subsystem = name;
  result.type = type.text();
  result.library = library ? library->text() : "";
  result.folder = native.folder();
  for (const Field& field : given.parameters) {
    result.parameters.set_written(field.key, field.value.text_of_value(given.constants),
                                  field.value.is_quoted(), field.value.location());
  }
  result.location = node.location();
  result.type_location = type.location();
  result.library_location = library ? library->location() : node.location();
  return result;
}

/// `start:` replaces the start values of a subsystem's inputs and states.
void override_starts(OdeInterface& interface, const Fields& changes, const Constants& constants,
                     const std::string& owner) {
  std::vector<std::string> candidates = names_of(interface.states);
  for (const std::string& name : names_of(interface.inputs)) {
    candidates.push_back(name);
  }
  for (const auto& [key, location, value] : changes) {
    bool known_name = false;
    for (StateVariable& state : interface.states) {
      known_name = known_name || state.name == key;
      state.start = state.name == key ? value.number(constants) : state.start;
    }
    for (InputVariable& input : interface.inputs) {
      known_name = known_name || input.name == key;
      input.start = input.name == key ? std::optional(value.number(constants)) : input.start;
    }
    if (!known_name) {
      throw InputError(location + ": " + owner + " has no input or state " + in_quotes(key) + "; " +
                       known("names", key, candidates));
    }
  }
}

/// Changes of inputs and states are starts, the others parameters.
void take_changes(const std::string& name, const NodeReader& node, const OdeInterface& interface,
                  const SubsystemSurroundings& around, Parts& parts) {
  std::map<std::string, std::string> variables;  // and their units
  for (const StateVariable& state : interface.states) {
    variables.emplace(state.name, state.unit);
  }
  for (const InputVariable& input : interface.inputs) {
    variables.emplace(input.name, input.unit);
  }
  std::vector<std::string> names = keys_of({&parts.parameters});
  for (const auto& [variable, unit] : variables) {
    names.push_back(variable);
  }
  for (ModelChange& change : around.changes.of(name, names)) {
    const auto variable = variables.find(change.name);
    const bool starts = variable != variables.end();
    convert(change, starts ? variable->second : "");
    Fields& list = starts ? parts.start : parts.parameters;
    list = merged(std::move(list), around.changed.of({change}, node.what()));
  }
}

bool is_isolated(const Parts& parts) { return parts.isolated && parts.isolated->flag(); }

IsolationOptions isolation_of(const NativeDescription& native, const Parts& parts) {
  IsolationOptions options;
  options.isolated = is_isolated(parts);
  options = read_isolation_options(native.subsystem, options);
  if (options.isolated && native.library.empty()) {
    throw InputError(native.type_location + ": subsystem '" + native.subsystem +
                     "': a type that is compiled into the program cannot be isolated; give its "
                     "library:, or -subsystem_" +
                     native.subsystem + "_isolated false");
  }
  return options;
}

OdeInterface interface_of(const NativeDescription& native, const IsolationOptions& options) {
  return options.isolated ? isolated_interface(native, options)
                          : make_native_model(native)->interface();
}

SubsystemEntry native_entry(const std::string& name, const NodeReader& node, Parts parts,
                            const SubsystemSurroundings& around) {
  const IsolationOptions isolation = isolation_of(read_native(name, node, parts), parts);
  if (around.changes.concern(name)) {
    const NativeDescription unchanged = read_native(name, node, parts);
    take_changes(name, node, interface_of(unchanged, isolation), around, parts);
  }
  auto native = std::make_shared<const NativeDescription>(read_native(name, node, parts));
  OdeInterface interface = interface_of(*native, isolation);
  override_starts(interface, parts.start, parts.constants, node.what());
  SubsystemEntry entry;
  entry.location = node.location();
  if (!native->library.empty()) {
    const std::filesystem::path file = library_file(*native);
    entry.file = {"library", file, file.empty() ? native->library : ""};
  }
  entry.description = describe_ode(name, "native", interface);
  entry.create = [native, shown = entry.description](const SubsystemSettings& settings) {
    return make_ode_subsystem(shown, make_native_model(*native), settings);
  };
  if (isolation.isolated) {
    isolate(entry, Recipe::of(*native, interface), isolation);
  }
  return entry;
}

/// Which of the kinds the fields describe.
std::string kind_of(const NodeReader& node, const Fields& fields, Keys keys) {
  std::vector<std::string> kinds, found;
  for (const Key& key : keys()) {
    if (key.alternative) {
      kinds.emplace_back(key.name);
      if (find_field(fields, key.name)) {
        found.emplace_back(key.name);
      }
    }
  }
  if (found.size() != 1) {
    node.fail("needs exactly one of " + joined(kinds) + "; found " +
              (found.empty() ? "none" : joined(found, " and ")));
  }
  return found.front();
}

double read_effort(const NodeReader& node, const Constants& constants) {
  const double effort = node.number(constants);
  if (!(effort > 0.0)) {
    node.fail("must be greater than zero");
  }
  return effort;
}

int read_rank(const NodeReader& node, const Constants& constants) {
  const double rank = node.number(constants);
  if (!(rank >= 0.0 && rank <= std::numeric_limits<int>::max() && rank == std::floor(rank))) {
    node.fail("must be a whole number, 0 or greater");
  }
  return static_cast<int>(rank);
}

double read_step(const NodeReader& node, const Constants& constants) {
  const double step = node.number(constants);
  if (!(step > 0.0 && std::isfinite(step))) {
    node.fail("must be a time in s, greater than zero");
  }
  return step;
}

/// Of a table nothing can be set.
void refuse_values(const Parts& parts, const ModelChanges& changes) {
  std::string location = changes.empty() ? "" : changes.front().location;
  for (const Fields* fields : {&parts.parameters, &parts.start}) {
    location = fields->empty() ? location : fields->front().key_location;
  }
  if (!location.empty()) {
    throw InputError(location + ": a table has no parameters and no start values");
  }
}

SubsystemEntry read_kind(const std::string& name, const NodeReader& node, const Parts& parts,
                         const SubsystemSurroundings& around) {
  const std::string kind = kind_of(node, parts.kind, template_keys);
  if (is_isolated(parts) && kind != "fmu" && kind != "native") {
    parts.isolated->fail("has nothing to isolate: only fmu and native run code of others");
  }
  if (kind == "equations") {
    return equations_entry(name, node, parts, around);
  }
  if (kind == "native") {
    return native_entry(name, node, parts, around);
  }
  if (kind == "table") {
    refuse_values(parts, around.changes.of(name, {}));
    return table_entry(name, node, *find_field(parts.kind, "table"), parts.constants);
  }
  return fmu_entry(name, *find_field(parts.kind, "fmu"), parts.parameters, parts.start,
                   is_isolated(parts), around.changes, parts.constants);
}

/// Names of an FMU's variables may be anything.
Fields values_of(const Fields& fields, const char* key, const char* role, const std::string& kind,
                 const std::string& owner) {
  const auto node = find_field(fields, key);
  if (!node) {
    return {};
  }
  return kind == "fmu" ? node->fields(role, owner) : node->named_fields(role, owner);
}

/// The entry's parts and those of its template, which have the same form.
Parts parts_of(const NodeReader& node, const Fields& fields, const SubsystemSurroundings& around) {
  Parts parts;
  parts.constants = around.constants;
  parts.kind = fields;
  std::string kind = kind_of(node, fields, subsystem_keys);
  if (kind == "template") {
    const NodeReader name = *find_field(fields, "template");
    const auto found = find_field(around.templates, name.text());
    if (!found) {
      std::vector<std::string> names;
      for (const Field& entry : around.templates) {
        names.push_back(entry.key);
      }
      name.fail("names no template; " + known("templates", name.text(), names));
    }
    parts.kind = found->fields_among(template_keys);
    kind = kind_of(*found, parts.kind, template_keys);
    parts.parameters = values_of(parts.kind, "parameters", "parameter", kind, node.what());
    parts.start = values_of(parts.kind, "start", "start value", kind, node.what());
    parts.effort = find_field(parts.kind, "effort");
    parts.step = find_field(parts.kind, "step");
    parts.isolated = find_field(parts.kind, "isolated");
  }
  parts.parameters = merged(std::move(parts.parameters),
                            values_of(fields, "parameters", "parameter", kind, node.what()));
  parts.start =
      merged(std::move(parts.start), values_of(fields, "start", "start value", kind, node.what()));
  if (const auto effort = find_field(fields, "effort")) {
    parts.effort = effort;
  }
  parts.rank = find_field(fields, "rank");
  if (const auto step = find_field(fields, "step")) {
    parts.step = step;
  }
  if (const auto isolated = find_field(fields, "isolated")) {
    parts.isolated = isolated;
  }
  return parts;
}

SubsystemEntry read_one(const std::string& name, const NodeReader& node, const Parts& parts,
                        const SubsystemSurroundings& around) {
  SubsystemEntry entry = read_kind(name, node, parts, around);
  if (parts.effort) {
    entry.effort = read_effort(*parts.effort, parts.constants);
  }
  if (parts.rank) {
    entry.rank = read_rank(*parts.rank, parts.constants);
  }
  if (parts.step) {
    entry.step = read_step(*parts.step, parts.constants);
    entry.step_location = parts.step->location();
  }
  return entry;
}

}  // namespace

std::vector<SubsystemEntry> read_subsystems(const Field& field,
                                            const SubsystemSurroundings& around) {
  const NodeReader& node = field.value;
  const Fields fields = node.fields_among(subsystem_keys);
  const Parts parts = parts_of(node, fields, around);
  std::vector<SubsystemEntry> result;
  if (const auto repeat = find_field(fields, "repeat")) {
    for (const Repetition& each : repetitions(*repeat, around.constants)) {
      Parts own = parts;
      own.constants[each.index] = static_cast<double>(each.value);
      const std::string name = field.key + "[" + std::to_string(each.value) + "]";
      result.push_back(read_one(name, node.called("subsystem " + in_quotes(name)), own, around));
    }
  } else {
    result.push_back(read_one(field.key, node, parts, around));
  }
  for (SubsystemEntry& entry : result) {
    entry.location = field.key_location;
  }
  return result;
}

}  // namespace concord
