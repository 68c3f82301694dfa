#include "modelfile/yaml/code_reader.hpp"

#include <map>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "modelfile/isolated/isolated_entry.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/remote_reader.hpp"
#include "settings/settings.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Fields = std::vector<Field>;

/// Numbers of expressions, and other values as they are written.
Parameters parameters_of(const SubsystemParts& parts) {
  Parameters result;
  for (const Field& field : parts.parameters) {
    result.set_written(field.key, field.value.text_of_value(parts.constants),
                       field.value.is_quoted(), field.value.location());
  }
  return result;
}

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
  result.parameters = parameters_of(given);
  result.location = node.location();
  result.type_location = type.location();
  result.library_location = library ? library->location() : node.location();
  return result;
}

PythonDescription read_python(const std::string& name, const NodeReader& node,
                              const SubsystemParts& given) {
  const auto python = *find_field(given.kind, "python");
  const Fields parts = python.fields_among(python_keys);
  const NodeReader file = field_of(parts, "file"), class_name = field_of(parts, "class");
  PythonDescription result;
  result.subsystem = name;
  result.file = file.text();
  result.class_name = class_name.text();
  result.folder = python.folder();
  result.parameters = parameters_of(given);
  result.location = node.location();
  result.file_location = file.location();
  result.class_location = class_name.location();
  return result;
}

/// All that is to be known of it, it knows itself.
ServedRecipe read_served(const std::string& name, const NodeReader& node,
                         const SubsystemParts& given) {
  auto remote = std::make_shared<RemoteDescription>(read_connection(name, node, given));
  if (remote->side == RemoteSide::listens)
    node.fail("needs 'connect' beside 'whole: true': Concord asks the process before the run");
  const auto offers =
      find_field(find_field(given.kind, "remote")->fields_among(remote_keys), "offers");
  for (const auto& what : {given.inputs, given.outputs, given.units, offers})
    if (what)
      what->fail(
          "is the process's to say beside 'whole: true'; leave it out, and put start values "
          "under 'start'");
  for (const Field& parameter : given.parameters) {
    remote->parameters.push_back(parameter.key);
    remote->parameter_values.push_back(parameter.value.number(given.constants));
  }
  auto link = make_remote_link(remote->address, remote->side);
  return {std::move(remote), std::move(link)};
}

/// `native:` or `python:` of one subsystem, or `remote:` where that is whole.
class CodeReader {
 public:
  CodeReader(const std::string& name, const NodeReader& node, SubsystemParts parts)
      : name_(name), node_(node), parts_(std::move(parts)), isolation_(isolation()) {}

  SubsystemEntry read(const SubsystemSurroundings& around) {
    if (around.changes.concern(name_))
      take_changes(described(recipe(), around).description, around);
    const Recipe made_from = recipe();
    auto [description, texts] = described(made_from, around);
    description.name = name_;
    override_starts(description);
    SubsystemEntry entry;
    entry.location = node_.location();
    entry.type.own().file = file();
    entry.type.own().texts = std::move(texts);
    create(entry, made_from, std::move(description), isolation_);
    return entry;
  }

 private:
  bool is_served() const { return find_field(parts_.kind, "remote").has_value(); }
  bool is_python() const { return find_field(parts_.kind, "python").has_value(); }
  Recipe recipe() const {
    return is_served()   ? Recipe::of(read_served(name_, node_, parts_))
           : is_python() ? Recipe::of(read_python(name_, node_, parts_))
                         : Recipe::of(read_native(name_, node_, parts_));
  }
  SubsystemInterface described(const Recipe& recipe, const SubsystemSurroundings& around) const;
  IsolationOptions isolation() const;
  ModelFile file() const;
  void override_starts(SubsystemDescription& description) const;
  void take_changes(const SubsystemDescription& description, const SubsystemSurroundings& around);
  static void create(SubsystemEntry& entry, Recipe recipe, SubsystemDescription description,
                     const IsolationOptions& isolation);

  const std::string& name_;
  const NodeReader& node_;
  SubsystemParts parts_;
  IsolationOptions isolation_;
};

/// Python is a process of its own where the run is not Python's already.
IsolationOptions CodeReader::isolation() const {
  IsolationOptions options;
  if (is_served()) {
    options = read_isolation_options(name_, options);
    options.isolated = true;
    return options;
  }
  options.isolated = parts_.isolated ? parts_.isolated->flag() : is_python() && !runs_in_python();
  options = read_isolation_options(name_, options);
  if (is_python() || !options.isolated) return options;
  const NativeDescription native = read_native(name_, node_, parts_);
  if (native.library.empty()) {
    throw InputError(native.type_location + ": subsystem '" + name_ +
                     "': a type that is compiled into the program cannot be isolated; give its "
                     "library:, or -subsystem_" +
                     name_ + "_isolated false");
  }
  return options;
}

/// Libraries of others may stand in each other's way, classes in Python do not.
SubsystemInterface CodeReader::described(const Recipe& recipe,
                                         const SubsystemSurroundings& around) const {
  KeptProcess alone;
  return isolation_.isolated
             ? described_in_isolation(recipe, isolation_, is_python() ? *around.python : alone)
             : SubsystemInterface{recipe.describe()};
}

/// Known once the library is open in this process, if ever.
ModelFile CodeReader::file() const {
  if (is_served()) return {};
  if (is_python()) {
    return {"Python file", python_file(read_python(name_, node_, parts_)).string()};
  }
  const NativeDescription native = read_native(name_, node_, parts_);
  if (native.library.empty()) return {};
  const std::filesystem::path file = library_file(native);
  return {"library", file, file.empty() ? native.library : ""};
}

/// `start:` replaces the start values of a subsystem's inputs and states.
void CodeReader::override_starts(SubsystemDescription& description) const {
  std::vector<std::string> candidates = names_of(description.states);
  for (const std::string& name : names_of(description.inputs)) {
    candidates.push_back(name);
  }
  for (const auto& [key, location, value] : parts_.start) {
    bool known_name = false;
    for (StateVariable& state : description.states.own()) {
      known_name = known_name || state.name == key;
      state.start = state.name == key ? value.number(parts_.constants, state.unit) : state.start;
    }
    for (InputVariable& input : description.inputs.own()) {
      known_name = known_name || input.name == key;
      input.start = input.name == key ? std::optional(value.number(parts_.constants, input.unit))
                                      : input.start;
    }
    if (!known_name) {
      throw InputError(location + ": " + node_.what() + " has no input or state " + in_quotes(key) +
                       "; " + known("names", key, candidates));
    }
  }
}

/// Changes of inputs and states are starts, the others parameters.
void CodeReader::take_changes(const SubsystemDescription& description,
                              const SubsystemSurroundings& around) {
  std::map<std::string, std::string> variables;  // and their units
  for (const StateVariable& state : description.states) {
    variables.emplace(state.name, state.unit);
  }
  for (const InputVariable& input : description.inputs) {
    variables.emplace(input.name, input.unit);
  }
  std::vector<std::string> names = keys_of({&parts_.parameters});
  for (const auto& [variable, unit] : variables) {
    names.push_back(variable);
  }
  for (ModelChange& change : around.changes.of(name_, names)) {
    const auto variable = variables.find(change.name);
    const bool starts = variable != variables.end();
    convert(change, starts ? variable->second : "");
    Fields& list = starts ? parts_.start : parts_.parameters;
    list = merged(std::move(list), around.changed.of({change}, node_.what()));
  }
}

/// Every subsystem that the entry is asked for begins as the description says.
void CodeReader::create(SubsystemEntry& entry, Recipe recipe, SubsystemDescription description,
                        const IsolationOptions& isolation) {
  recipe.begin_with(description);
  entry.description = description;
  entry.type.own().create = [recipe](const SubsystemEntry&, const SubsystemSettings& settings) {
    Recipe own = recipe;
    own.settings = settings;
    return own.make();
  };
  if (isolation.isolated) isolate(entry, recipe, isolation);
  entry.type.own().take_starts = [recipe, description, isolation](
                                     SubsystemEntry& other, const SubsystemDescription& starts) {
    SubsystemDescription begins = description;
    begins.states = starts.states;
    begins.inputs = starts.inputs;
    create(other, recipe, std::move(begins), isolation);
  };
}

}  // namespace

SubsystemEntry code_entry(const std::string& name, const NodeReader& node, SubsystemParts parts,
                          const SubsystemSurroundings& around) {
  return CodeReader(name, node, std::move(parts)).read(around);
}

}  // namespace concord
