#include "modelfile/yaml/subsystem_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "modelfile/isolated/isolated_entry.hpp"
#include "modelfile/yaml/equations_reader.hpp"
#include "modelfile/yaml/fmu_reader.hpp"
#include "modelfile/yaml/function_reader.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/repetition.hpp"
#include "modelfile/yaml/system_reader.hpp"
#include "modelfile/yaml/table_reader.hpp"
#include "settings/settings.hpp"
#include "subsystem/native/native_model.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Fields = std::vector<Field>;

NativeDescription read_native(const std::string& name, const NodeReader& node,
                              const SubsystemParts& given) {
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
                  const SubsystemSurroundings& around, SubsystemParts& parts) {
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

bool is_isolated(const SubsystemParts& parts) { return parts.isolated && parts.isolated->flag(); }

IsolationOptions isolation_of(const NativeDescription& native, const SubsystemParts& parts) {
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

/// How it is made, with these start values.
void create_native(SubsystemEntry& entry, std::shared_ptr<const NativeDescription> native,
                   const OdeInterface& interface, const IsolationOptions& isolation) {
  entry.description = describe_ode(native->subsystem, "native", interface);
  entry.create = [native, shown = entry.description](const SubsystemSettings& settings) {
    return make_ode_subsystem(shown, make_native_model(*native), settings);
  };
  if (isolation.isolated) {
    isolate(entry, Recipe::of(*native, interface), isolation);
  }
  entry.take_starts = [native, interface, isolation](SubsystemEntry& other,
                                                     const SubsystemDescription& starts) {
    OdeInterface begins = interface;
    begins.states = starts.states;
    begins.inputs = starts.inputs;
    create_native(other, native, begins, isolation);
  };
}

SubsystemEntry native_entry(const std::string& name, const NodeReader& node, SubsystemParts parts,
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
  create_native(entry, native, interface, isolation);
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
void refuse_values(const SubsystemParts& parts, const ModelChanges& changes) {
  std::string location = changes.empty() ? "" : changes.front().location;
  for (const Fields* fields : {&parts.parameters, &parts.start}) {
    location = fields->empty() ? location : fields->front().key_location;
  }
  if (!location.empty()) {
    throw InputError(location + ": a table has no parameters and no start values");
  }
}

SubsystemEntry read_kind(const std::string& name, const NodeReader& node,
                         const SubsystemParts& parts, const SubsystemSurroundings& around) {
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
  return kind == "fmu"         ? node->fields(role, owner)
         : kind == "equations" ? node->indexed_fields(role, owner)
                               : node->named_fields(role, owner);
}

/// The entry's parts and those of its template, which have the same form.
SubsystemParts parts_of(const NodeReader& node, const Fields& fields,
                        const SubsystemSurroundings& around) {
  SubsystemParts parts;
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
    parts.run = find_field(parts.kind, "run");
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
  if (const auto run = find_field(fields, "run")) {
    parts.run = run;
  }
  if (parts.run && kind != "system") {
    parts.run->fail("is for systems; a subsystem alone runs as the whole does");
  }
  return parts;
}

SubsystemEntry read_one(const std::string& name, const NodeReader& node,
                        const SubsystemParts& parts, const SubsystemSurroundings& around) {
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

void read_subsystems(const Field& field, const SubsystemSurroundings& around) {
  const NodeReader& node = field.value;
  const Fields fields = node.fields_among(subsystem_keys);
  const SubsystemParts parts = parts_of(node, fields, around);
  const std::string name = around.prefix + field.key;
  const auto read = [&](const std::string& called, const SubsystemParts& own) {
    const NodeReader its_node = node.called("subsystem " + in_quotes(called));
    if (find_field(own.kind, "system")) {
      return read_system(called, its_node, own, around);
    }
    around.model.subsystems.push_back(read_one(called, its_node, own, around));
    around.model.subsystems.back().location = field.key_location;
  };
  const auto repeat = find_field(fields, "repeat");
  if (!repeat) {
    return read(name, parts);
  }
  for (const Repetition& each : repetitions(*repeat, around.constants)) {
    SubsystemParts own = parts;
    keep_in_functions(std::span(&each.index, 1), own.constants);
    own.constants.values[each.index] = static_cast<double>(each.value);
    read(name + "[" + std::to_string(each.value) + "]", own);
  }
}

}  // namespace concord
