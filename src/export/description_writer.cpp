#include "export/description_writer.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "export/attributes.hpp"
#include "units/units.hpp"

namespace concord {

namespace {

using Node = pugi::xml_node;
using Role = VariableRole;

void set_flags(Node node, std::initializer_list<const char*> flags) {
  for (const char* flag : flags) set(node, flag, "true");
}

UnitTexts units_of(const ExportedModel& model) {
  UnitTexts units;
  for (const ExportedVariable& variable : model.variables) {
    const bool derived = variable.role == Role::derivative;
    if (!variable.unit.empty() && (!derived || in_base_units(variable.unit)))
      units.emplace(variable.unit, variable.unit);
  }
  return units;
}

bool starts_exactly(Role role) {
  return role == Role::state || role == Role::parameter || role == Role::discrete;
}

bool is_computed(Role role) {
  return role == Role::output || role == Role::derivative || role == Role::indicator;
}

const char* variability_of(const ExportedVariable& variable) {
  if (variable.role == Role::parameter) return "tunable";
  return variable.is_held ? "discrete" : "continuous";
}

/// What a right-hand side depends on, as positions in the list of variables. Parameters and
/// discrete variables count at the start only.
std::set<std::size_t> dependencies(const ExportedModel& model, const std::vector<std::string>& uses,
                                   bool at_start) {
  std::set<std::size_t> result;
  for (const std::string& name : uses) {
    const ExportedVariable* known = model.known(name);
    if (known == nullptr) continue;
    const bool fixed = known->role == Role::parameter || known->role == Role::discrete;
    if (at_start || !fixed) result.insert(model.position(known->role, known->index));
  }
  return result;
}

/// Writes modelDescription.xml of either version.
class DescriptionWriter {
 public:
  DescriptionWriter(const ExportedModel& model, FmiVersion version,
                    const ExportedExperiment& experiment)
      : model_(model), v2_(version == FmiVersion::v2), experiment_(experiment) {}

  std::string write(const std::string& token) {
    root_ = document_.append_child("fmiModelDescription");
    set(root_, "fmiVersion", v2_ ? "2.0" : "3.0");
    set(root_, "modelName", model_.name);
    set(root_, v2_ ? "guid" : "instantiationToken", token);
    set(root_, "generationTool", "Concord " CONCORD_VERSION);
    set(root_, "variableNamingConvention", "structured");
    if (v2_) set(root_, "numberOfEventIndicators", std::to_string(model_.events.indicators));
    write_interfaces();
    units_ = units_of(model_);
    add_units(root_.append_child("UnitDefinitions"), units_, "");
    write_log_categories();
    write_experiment();
    write_variables();
    write_structure();
    return xml_text(document_);
  }

 private:
  void write_interfaces();
  void write_log_categories();
  void write_experiment();
  void write_variables();
  void write_variable(Node list, const ExportedVariable& variable);
  void write_structure();
  void write_unknown(Node list, const char* v3_name, const ExportedVariable& unknown,
                     const std::set<std::size_t>& depends);
  void write_initial_unknowns(Node list);
  std::set<std::size_t> dependencies_of_output(const ExportedVariable& variable) const;
  std::string key(std::size_t position) const {
    return std::to_string(v2_ ? position + 1 : model_.variables[position].reference);
  }
  bool feeds_through() const;

  const ExportedModel& model_;
  bool v2_;
  const ExportedExperiment& experiment_;
  pugi::xml_document document_;
  Node root_;
  UnitTexts units_;
};

bool DescriptionWriter::feeds_through() const {
  return !model_.is_delay &&
         std::any_of(model_.outputs.begin(), model_.outputs.end(), [&](const auto& output) {
           return std::any_of(output.uses.begin(), output.uses.end(), [&](const std::string& name) {
             const ExportedVariable* known = model_.known(name);
             return known != nullptr && known->role == Role::input;
           });
         });
}

/// FMI 2 is told how inputs move, so that y' is whole; FMI 3 is not: there, y' is only offered
/// where no output depends directly on an input.
void DescriptionWriter::write_interfaces() {
  for (const char* kind : {"ModelExchange", "CoSimulation"}) {
    const bool steps = std::string_view(kind) == "CoSimulation";
    if (model_.is_delay && !steps) continue;
    Node interface = root_.append_child(kind);
    set(interface, "modelIdentifier", model_.name);
    if (steps) set_flags(interface, {"canHandleVariableCommunicationStepSize"});
    if (steps && (v2_ || !feeds_through())) set(interface, "maxOutputDerivativeOrder", "1");
    if (v2_) {
      if (steps && !model_.inputs.empty()) set_flags(interface, {"canInterpolateInputs"});
      if (!steps) set_flags(interface, {"completedIntegratorStepNotNeeded"});
      set_flags(interface, {"canNotUseMemoryManagementFunctions", "canGetAndSetFMUstate",
                            "canSerializeFMUstate"});
      if (!model_.is_delay) set_flags(interface, {"providesDirectionalDerivative"});
      set(interface.append_child("SourceFiles").append_child("File"), "name", model_.name + ".c");
    } else {
      if (steps) set_flags(interface, {"providesIntermediateUpdate"});
      set_flags(interface,
                {"canGetAndSetFMUState", "canSerializeFMUState", "providesDirectionalDerivatives"});
    }
  }
}

void DescriptionWriter::write_log_categories() {
  Node categories = root_.append_child("LogCategories");
  for (const char* name : {"logStatusDiscard", "logStatusError"})
    set(categories.append_child("Category"), "name", name);
}

void DescriptionWriter::write_experiment() {
  Node node = root_.append_child("DefaultExperiment");
  set(node, "startTime", xml_number(experiment_.start));
  if (experiment_.stop > experiment_.start) set(node, "stopTime", xml_number(experiment_.stop));
  set(node, "tolerance", xml_number(experiment_.tolerance));
}

void DescriptionWriter::write_variables() {
  Node list = root_.append_child("ModelVariables");
  for (const ExportedVariable& variable : model_.variables) write_variable(list, variable);
}

void DescriptionWriter::write_variable(Node list, const ExportedVariable& variable) {
  Node node = list.append_child(v2_ ? "ScalarVariable" : "Float64");
  set(node, "name", variable.name);
  set(node, "valueReference", std::to_string(variable.reference));
  if (!variable.description.empty()) set(node, "description", variable.description);
  set(node, "causality", causality_of(variable));
  set(node, "variability",
      model_.is_delay && variable.role == Role::parameter ? "fixed" : variability_of(variable));
  if (starts_exactly(variable.role)) set(node, "initial", "exact");
  if (is_computed(variable.role)) set(node, "initial", "calculated");
  if (!v2_ && variable.role == Role::input) set_flags(node, {"intermediateUpdate"});
  Node typed = v2_ ? node.append_child("Real") : node;
  if (units_.contains(variable.unit)) set(typed, "unit", variable.unit);
  if (has_start(variable)) set(typed, "start", xml_number(variable.start));
  if (variable.role == Role::derivative)
    set(typed, "derivative", key(model_.position(Role::state, variable.index)));
}

void DescriptionWriter::write_unknown(Node list, const char* v3_name,
                                      const ExportedVariable& unknown,
                                      const std::set<std::size_t>& depends) {
  Node node = list.append_child(v2_ ? "Unknown" : v3_name);
  set(node, v2_ ? "index" : "valueReference", key(model_.position(unknown.role, unknown.index)));
  std::string keys;
  for (const std::size_t position : depends) keys += (keys.empty() ? "" : " ") + key(position);
  set(node, "dependencies", keys);
}

/// Knowns are time, states and inputs; at initialisation, parameters and discrete variables as
/// well.
void DescriptionWriter::write_structure() {
  Node structure = root_.append_child("ModelStructure");
  Node outputs = structure;
  if (v2_ && std::any_of(model_.variables.begin(), model_.variables.end(),
                         [](const ExportedVariable& variable) { return variable.is_output; }))
    outputs = structure.append_child("Outputs");
  for (const ExportedVariable& variable : model_.variables) {
    if (!variable.is_output) continue;
    write_unknown(outputs, "Output", variable, dependencies_of_output(variable));
  }
  Node derivatives =
      v2_ && !model_.states.empty() ? structure.append_child("Derivatives") : structure;
  for (std::size_t i = 0; i < model_.states.size(); ++i)
    write_unknown(derivatives, "ContinuousStateDerivative", model_.variable(Role::derivative, i),
                  dependencies(model_, model_.derivatives[i].uses, false));
  if (!model_.outputs.empty() || !model_.states.empty())
    write_initial_unknowns(v2_ ? structure.append_child("InitialUnknowns") : structure);
  for (std::size_t i = 0; i < model_.events.indicators && !v2_; ++i)
    write_unknown(structure, "EventIndicator", model_.variable(Role::indicator, i),
                  dependencies(model_, model_.events.watched[i].uses, false));
}

/// Discrete variables change in event mode alone.
std::set<std::size_t> DescriptionWriter::dependencies_of_output(
    const ExportedVariable& variable) const {
  if (variable.role == Role::discrete || model_.is_delay) return {};
  if (variable.role == Role::state) return {model_.position(Role::state, variable.index)};
  return dependencies(model_, model_.outputs[variable.index].uses, false);
}

void DescriptionWriter::write_initial_unknowns(Node list) {
  for (const ExportedVariable& variable : model_.variables) {
    if (variable.role == Role::output)
      write_unknown(list, "InitialUnknown", variable,
                    dependencies(model_, model_.outputs[variable.index].uses, true));
    if (variable.role == Role::derivative)
      write_unknown(list, "InitialUnknown", variable,
                    dependencies(model_, model_.derivatives[variable.index].uses, true));
  }
}

}  // namespace

const char* causality_of(const ExportedVariable& variable) {
  switch (variable.role) {
    case Role::time:
      return "independent";
    case Role::input:
      return "input";
    case Role::parameter:
      return "parameter";
    default:
      return variable.is_output ? "output" : "local";
  }
}

bool has_start(const ExportedVariable& variable) {
  return starts_exactly(variable.role) || variable.role == Role::input;
}

std::string xml_number(double value) {
  char buffer[40];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string xml_text(const pugi::xml_document& document) {
  std::ostringstream stream;
  stream << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  document.save(stream, "  ", pugi::format_default | pugi::format_no_declaration,
                pugi::encoding_utf8);
  return stream.str();
}

void add_units(Node definitions, const UnitTexts& units, const std::string& prefix) {
  for (const auto& [unit, text] : units) {
    Node node = definitions.append_child((prefix + "Unit").c_str());
    set(node, "name", unit);
    const auto base = in_base_units(text);
    if (!base) continue;
    Node base_node = node.append_child((prefix + "BaseUnit").c_str());
    for (std::size_t i = 0; i < base_unit_names.size(); ++i)
      if (base->exponents[i] != 0)
        set(base_node, base_unit_names[i], std::to_string(base->exponents[i]));
    if (base->factor != 1.0) set(base_node, "factor", xml_number(base->factor));
    if (base->offset != 0.0) set(base_node, "offset", xml_number(base->offset));
  }
}

std::string model_description(const ExportedModel& model, FmiVersion version,
                              const ExportedExperiment& experiment, const std::string& token) {
  return DescriptionWriter(model, version, experiment).write(token);
}

std::string build_description(const ExportedModel& model) {
  pugi::xml_document document;
  Node root = document.append_child("fmiBuildDescription");
  set(root, "fmiVersion", "3.0");
  Node configuration = root.append_child("BuildConfiguration");
  set(configuration, "modelIdentifier", model.name);
  Node files = configuration.append_child("SourceFileSet");
  set(files, "language", "C99");
  set(files.append_child("SourceFile"), "name", model.name + ".c");
  Node prefix = files.append_child("PreprocessorDefinition");
  set(prefix, "name", "FMI3_FUNCTION_PREFIX");
  set(prefix, "value", model.name + "_");
  set(prefix, "description",
      "for static linking; FMI3_OVERRIDE_FUNCTION_PREFIX takes it back for a shared library");
  Node library = configuration.append_child("Library");
  set(library, "name", "m");
  set_flags(library, {"external"});
  return xml_text(document);
}

}  // namespace concord
