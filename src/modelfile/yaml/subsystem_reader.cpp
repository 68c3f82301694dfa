#include "modelfile/yaml/subsystem_reader.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "modelfile/yaml/fmu_reader.hpp"
#include "subsystem/equations/equations_model.hpp"
#include "subsystem/native/native_model.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Number = EquationsDescription::Number;
using Text = EquationsDescription::Text;
using Fields = std::vector<Field>;

Fields section(const Fields& fields, const char* key, const char* role, const std::string& owner) {
  const auto node = find_field(fields, key);
  return node ? node->named_fields(role, owner) : Fields{};
}

std::vector<Number> read_numbers(const Fields& fields) {
  std::vector<Number> result;
  for (const auto& [key, location, value] : fields) {
    result.push_back({key, value.number(), location});
  }
  return result;
}

/// Inputs may lack a start value: `inputs: {f: , load: 0}`.
std::vector<Number> read_inputs(const Fields& fields) {
  std::vector<Number> result;
  for (const auto& [key, location, value] : fields) {
    result.push_back(
        {key, value.is_null() ? std::nullopt : std::optional(value.number()), location});
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

template <class Entry>
std::vector<std::string> names_of(const std::vector<Entry>& first,
                                  const std::vector<Entry>& second = {}) {
  std::vector<std::string> names;
  for (const auto* entries : {&first, &second}) {
    for (const Entry& entry : *entries) {
      names.push_back(entry.name);
    }
  }
  return names;
}

/// `parameters:` or `start:` beside `equations:` replaces values that are given there.
void override_values(const Fields& changes, std::initializer_list<std::vector<Number>*> lists,
                     const std::string& what, const std::string& owner) {
  std::vector<std::string> candidates;
  std::unordered_map<std::string, Number*> by_name;
  for (std::vector<Number>* list : lists) {
    for (Number& entry : *list) {
      by_name.emplace(entry.name, &entry);
      candidates.push_back(entry.name);
    }
  }
  for (const auto& [key, location, value] : changes) {
    const auto found = by_name.find(key);
    if (found == by_name.end()) {
      throw InputError(location + ": " + owner + " has no " + what + " " + in_quotes(key) + "; " +
                       known("names", key, candidates));
    }
    found->second->value = value.number();
    found->second->location = location;
  }
}

EquationsDescription read_equations(const std::string& name, const NodeReader& node,
                                    const Fields& fields) {
  const auto entry = *find_field(fields, "equations");
  const NodeReader& owner = node;
  const Fields parts = entry.fields_among(
      {"parameters", "inputs", "states", "derivatives", "outputs", "units", "nominal"});
  const std::string& of = owner.what();
  EquationsDescription result;
  result.subsystem = name;
  result.location = node.location();
  result.parameters = read_numbers(section(parts, "parameters", "parameter", of));
  result.inputs = read_inputs(section(parts, "inputs", "input", of));
  result.states = read_numbers(section(parts, "states", "state", of));
  result.derivatives = read_texts(section(parts, "derivatives", "derivative", of));
  result.outputs = read_texts(section(parts, "outputs", "output", of));
  result.units = read_units(section(parts, "units", "unit", of));
  result.nominal = read_numbers(section(parts, "nominal", "nominal value", of));
  override_values(section(fields, "parameters", "parameter", of), {&result.parameters}, "parameter",
                  of);
  override_values(section(fields, "start", "start value", of), {&result.states, &result.inputs},
                  "input or state", of);
  return result;
}

SubsystemEntry equations_entry(const std::string& name, const NodeReader& node,
                               const Fields& fields) {
  auto description =
      std::make_shared<const EquationsDescription>(read_equations(name, node, fields));
  SubsystemEntry entry;
  entry.location = node.location();
  entry.equations = description;
  entry.description = describe_ode(name, "equations", EquationsModel(*description).interface());
  entry.create = [description, shown = entry.description](const SubsystemSettings& settings) {
    return make_ode_subsystem(shown, std::make_unique<EquationsModel>(*description), settings);
  };
  return entry;
}

Parameters read_parameters(const Fields& fields) {
  Parameters parameters;
  for (const auto& [key, location, value] : fields) {
    parameters.set_written(key, value.text(), value.is_quoted(), value.location());
  }
  return parameters;
}

NativeDescription read_native(const std::string& name, const NodeReader& node, const Fields& fields,
                              const std::filesystem::path& folder) {
  const auto native = *find_field(fields, "native");
  const Fields parts = native.fields_among({"library", "type"});
  const auto type = find_field(parts, "type");
  const auto library = find_field(parts, "library");
  if (!type) {
    native.fail("needs 'type', the name under which the C++ class is registered");
  }
  NativeDescription result;
  result.subsystem = name;
  result.type = type->text();
  result.library = library ? library->text() : "";
  result.folder = folder;
  result.parameters = read_parameters(section(fields, "parameters", "parameter", node.what()));
  result.location = node.location();
  result.type_location = type->location();
  result.library_location = library ? library->location() : node.location();
  return result;
}

/// `start:` replaces the start values of a subsystem's inputs and states.
void override_starts(OdeInterface& interface, const Fields& changes, const std::string& owner) {
  std::vector<std::string> candidates = names_of(interface.states);
  for (const std::string& name : names_of(interface.inputs)) {
    candidates.push_back(name);
  }
  for (const auto& [key, location, value] : changes) {
    bool known_name = false;
    for (StateVariable& state : interface.states) {
      known_name = known_name || state.name == key;
      state.start = state.name == key ? value.number() : state.start;
    }
    for (InputVariable& input : interface.inputs) {
      known_name = known_name || input.name == key;
      input.start = input.name == key ? std::optional(value.number()) : input.start;
    }
    if (!known_name) {
      throw InputError(location + ": " + owner + " has no input or state " + in_quotes(key) + "; " +
                       known("names", key, candidates));
    }
  }
}

SubsystemEntry native_entry(const std::string& name, const NodeReader& node, const Fields& fields,
                            const std::filesystem::path& folder) {
  auto native = std::make_shared<const NativeDescription>(read_native(name, node, fields, folder));
  OdeInterface interface = make_native_model(*native)->interface();
  override_starts(interface, section(fields, "start", "start value", node.what()), node.what());
  SubsystemEntry entry;
  entry.location = node.location();
  entry.description = describe_ode(name, "native", interface);
  entry.create = [native, shown = entry.description](const SubsystemSettings& settings) {
    return make_ode_subsystem(shown, make_native_model(*native), settings);
  };
  return entry;
}

/// Which of `equations`, `fmu`, `native` the subsystem is.
std::string kind_of(const NodeReader& node, const Fields& fields) {
  std::vector<std::string> kinds;
  for (const char* kind : {"equations", "fmu", "native"}) {
    if (find_field(fields, kind)) {
      kinds.emplace_back(kind);
    }
  }
  if (kinds.size() != 1) {
    node.fail("needs exactly one of equations, fmu, native; found " +
              (kinds.empty() ? "none" : joined(kinds, " and ")));
  }
  return kinds.front();
}

SubsystemEntry read_kind(const std::string& name, const NodeReader& node, const Fields& fields,
                         const std::filesystem::path& folder) {
  const std::string kind = kind_of(node, fields);
  if (kind == "equations") {
    return equations_entry(name, node, fields);
  }
  if (kind == "native") {
    return native_entry(name, node, fields, folder);
  }
  return fmu_entry(name, node, fields, folder);
}

double read_effort(const NodeReader& node) {
  const double effort = node.number();
  if (!(effort > 0.0)) {
    node.fail("must be greater than zero");
  }
  return effort;
}

}  // namespace

SubsystemEntry read_subsystem(const std::string& name, const NodeReader& node,
                              const std::filesystem::path& folder) {
  const Fields fields =
      node.fields_among({"equations", "fmu", "native", "parameters", "start", "effort"});
  SubsystemEntry entry = read_kind(name, node, fields, folder);
  if (const auto effort = find_field(fields, "effort")) {
    entry.effort = read_effort(*effort);
  }
  return entry;
}

}  // namespace concord
