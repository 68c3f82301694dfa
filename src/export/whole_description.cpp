#include "export/whole_description.hpp"

#include <algorithm>
#include <cctype>

#include "export/attributes.hpp"
#include "export/description_writer.hpp"

namespace concord {

namespace {

using Node = pugi::xml_node;

bool is_output(const WholeVariable& variable) {
  return variable.role == WholeRole::output || variable.role == WholeRole::error_estimate;
}

bool is_fixed(const WholeVariable& variable) {
  return variable.role == WholeRole::parameter || variable.role == WholeRole::start;
}

}  // namespace

const char* causality_of(WholeRole role) {
  switch (role) {
    case WholeRole::time:
      return "independent";
    case WholeRole::input:
      return "input";
    case WholeRole::state:
      return "local";
    case WholeRole::parameter:
    case WholeRole::start:
      return "parameter";
    default:
      return "output";
  }
}

namespace {

const char* variability(const WholeVariable& variable) {
  if (is_fixed(variable)) return variable.tunable ? "tunable" : "fixed";
  return variable.held ? "discrete" : "continuous";
}

/// Empty where the standard has none.
const char* initial(const WholeVariable& variable) {
  if (variable.role == WholeRole::time || variable.role == WholeRole::input) return "";
  return !variable.start ? "calculated" : variable.guessed ? "approx" : "exact";
}

/// Whether the name is one of FMI's structured names: "cell[1].x".
bool is_structured(const std::string& name) {
  bool begins = true, within = false;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    const bool digit = std::isdigit(letter) != 0;
    if (within   ? !digit && c != ',' && c != ']'
        : begins ? std::isalpha(letter) == 0 && c != '_'
                 : std::isalnum(letter) == 0 && c != '_' && c != '.' && c != '[')
      return false;
    within = c == '[' || (within && c != ']');
    begins = c == '.';
  }
  return !begins && !within;
}

class WholeDescription {
 public:
  WholeDescription(const WholeInterface& interface, FmiVersion version)
      : interface_(interface), v2_(version == FmiVersion::v2) {}

  std::string write() {
    root_ = document_.append_child("fmiModelDescription");
    set(root_, "fmiVersion", v2_ ? "2.0" : "3.0");
    set(root_, "modelName", interface_.name);
    set(root_, v2_ ? "guid" : "instantiationToken", interface_.token);
    set(root_, "description",
        "a whole model with Concord inside; its binary needs MPI, PETSc, SUNDIALS, HDF5 and the "
        "like of the system: documentation/index.html");
    set(root_, "generationTool", "Concord " CONCORD_VERSION);
    const auto& variables = interface_.variables;
    const bool structured = std::all_of(variables.begin(), variables.end(),
                                        [](const auto& one) { return is_structured(one.name); });
    set(root_, "variableNamingConvention", structured ? "structured" : "flat");
    write_abilities();
    for (const WholeVariable& variable : variables)
      if (!variable.unit.empty()) units_.emplace(variable.unit, variable.unit);
    if (!units_.empty()) add_units(root_.append_child("UnitDefinitions"), units_, "");
    write_log_categories();
    write_experiment();
    Node list = root_.append_child("ModelVariables");
    for (std::size_t i = 0; i < variables.size(); ++i) write_variable(list, i);
    write_structure();
    return xml_text(document_);
  }

 private:
  void write_abilities();
  void write_log_categories();
  void write_experiment();
  void write_variable(Node list, std::size_t position);
  void write_structure();
  void write_unknown(Node list, const char* v3_name, std::size_t position,
                     const std::optional<std::vector<std::size_t>>& depends);
  std::string key(std::size_t position) const { return std::to_string(position + (v2_ ? 1 : 0)); }

  const WholeInterface& interface_;
  bool v2_;
  pugi::xml_document document_;
  Node root_;
  UnitTexts units_;
};

void WholeDescription::write_abilities() {
  Node node = root_.append_child("CoSimulation");
  set(node, "modelIdentifier", interface_.identifier);
  set(node, "canHandleVariableCommunicationStepSize", "true");
  if (v2_) set(node, "canNotUseMemoryManagementFunctions", "true");
  if (!v2_) set(node, "hasEventMode", "true");
  if (interface_.derives)
    set(node, v2_ ? "providesDirectionalDerivative" : "providesDirectionalDerivatives", "true");
  if (interface_.derives && !v2_) set(node, "providesAdjointDerivatives", "true");
  if (!interface_.keeps_state) return;
  set(node, v2_ ? "canGetAndSetFMUstate" : "canGetAndSetFMUState", "true");
  set(node, v2_ ? "canSerializeFMUstate" : "canSerializeFMUState", "true");
}

void WholeDescription::write_log_categories() {
  Node categories = root_.append_child("LogCategories");
  for (const char* name : {"logStatusWarning", "logStatusDiscard", "logStatusError"})
    set(categories.append_child("Category"), "name", name);
}

void WholeDescription::write_experiment() {
  Node node = root_.append_child("DefaultExperiment");
  set(node, "startTime", xml_number(interface_.start));
  set(node, "stopTime", xml_number(interface_.stop));
  set(node, "tolerance", xml_number(interface_.tolerance));
  if (interface_.step > 0.0) set(node, "stepSize", xml_number(interface_.step));
}

void WholeDescription::write_variable(Node list, std::size_t position) {
  const WholeVariable& variable = interface_.variables[position];
  Node node = list.append_child(v2_ ? "ScalarVariable" : "Float64");
  set(node, "name", variable.name);
  set(node, "valueReference", std::to_string(position));
  if (!variable.description.empty()) set(node, "description", variable.description);
  set(node, "causality", causality_of(variable.role));
  set(node, "variability", variability(variable));
  if (*initial(variable) != '\0') set(node, "initial", initial(variable));
  Node typed = v2_ ? node.append_child("Real") : node;
  if (!variable.unit.empty()) set(typed, "unit", variable.unit);
  if (variable.nominal > 0.0) set(typed, "nominal", xml_number(variable.nominal));
  if (variable.start) set(typed, "start", xml_number(*variable.start));
}

void WholeDescription::write_unknown(Node list, const char* v3_name, std::size_t position,
                                     const std::optional<std::vector<std::size_t>>& depends) {
  Node node = list.append_child(v2_ ? "Unknown" : v3_name);
  set(node, v2_ ? "index" : "valueReference", key(position));
  if (!depends) return;
  std::string keys;
  for (const std::size_t other : *depends) keys += (keys.empty() ? "" : " ") + key(other);
  set(node, "dependencies", keys);
}

/// At the start everything may depend on everything.
void WholeDescription::write_structure() {
  Node structure = root_.append_child("ModelStructure");
  std::vector<std::size_t> outputs, unknown_at_start;
  for (std::size_t i = 0; i < interface_.variables.size(); ++i) {
    const WholeVariable& variable = interface_.variables[i];
    if (!is_output(variable)) continue;
    outputs.push_back(i);
    if (!variable.start || variable.guessed) unknown_at_start.push_back(i);
  }
  Node list = v2_ && !outputs.empty() ? structure.append_child("Outputs") : structure;
  for (const std::size_t i : outputs)
    write_unknown(list, "Output", i, interface_.variables[i].depends_on);
  list = v2_ && !unknown_at_start.empty() ? structure.append_child("InitialUnknowns") : structure;
  for (const std::size_t i : unknown_at_start) write_unknown(list, "InitialUnknown", i, {});
}

}  // namespace

std::string whole_description(const WholeInterface& interface, FmiVersion version) {
  return WholeDescription(interface, version).write();
}

}  // namespace concord
