#include "subsystem/fmu/description/fmi1_description.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Node = pugi::xml_node;

std::string_view attribute_of(const Node& node, const char* attribute) {
  return node.attribute(attribute).as_string();
}

void set(Node node, const char* attribute, const std::string& value) {
  pugi::xml_attribute found = node.attribute(attribute);
  if (!found) found = node.append_attribute(attribute);
  found.set_value(value.c_str());
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> known) {
  return std::find(known.begin(), known.end(), word) != known.end();
}

/// One rewriting of one modelDescription.xml.
class Rewriting {
 public:
  Rewriting(Node root, const std::string& where) : root_(root), where_(where) {}

  std::vector<std::string> run() {
    rewrite_interface();
    number_items();
    for (Node variable : root_.child("ModelVariables").children("ScalarVariable"))
      rewrite_variable(variable);
    rewrite_dependencies();
    set(root_, "fmiVersion", "2.0");
    return std::move(remarks_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(where_ + ": " + problem);
  }
  void rewrite_interface();
  void number_items();
  void rewrite_variable(Node variable);
  void require_known(const Node& variable, const char* attribute,
                     std::initializer_list<std::string_view> known) const;
  void rewrite_dependencies();
  std::optional<std::string> numbers_of(const Node& dependencies) const;

  Node root_;
  const std::string& where_;
  std::vector<std::string> remarks_;
  std::unordered_map<std::string, std::size_t> numbers_;  ///< of variables by name, from 1
};

/// An FMU has one interface: co-simulation where there is an <Implementation>.
void Rewriting::rewrite_interface() {
  const Node implementation = root_.child("Implementation");
  const Node alone = implementation.child("CoSimulation_StandAlone");
  const Node tool = implementation.child("CoSimulation_Tool");
  if (implementation && !alone && !tool)
    fail("<Implementation> has neither <CoSimulation_StandAlone> nor <CoSimulation_Tool>");
  Node interface = root_.append_child(implementation ? "CoSimulation" : "ModelExchange");
  set(interface, "modelIdentifier", root_.attribute("modelIdentifier").as_string());
  const pugi::xml_attribute states = root_.attribute("numberOfContinuousStates");
  if (!implementation && states) set(interface, states.name(), states.value());
  if (!implementation) return;
  const Node capabilities = (alone ? alone : tool).child("Capabilities");
  for (const char* same : {"canHandleVariableCommunicationStepSize", "canInterpolateInputs",
                           "maxOutputDerivativeOrder", "canBeInstantiatedOnlyOncePerProcess"})
    if (capabilities.attribute(same)) set(interface, same, capabilities.attribute(same).value());
  set(interface, "needsExecutionTool", alone ? "false" : "true");
  set(interface, "mimeType",
      alone ? "application/x-fmu-sharedlibrary"
            : tool.child("Model").attribute("type").as_string());
}

/// "First Item has value=1, ..."
void Rewriting::number_items() {
  for (const Node type : root_.child("TypeDefinitions").children("Type")) {
    int value = 0;
    for (Node item : type.child("EnumerationType").children("Item"))
      set(item, "value", std::to_string(++value));
  }
}

void Rewriting::require_known(const Node& variable, const char* attribute,
                              std::initializer_list<std::string_view> known) const {
  const std::string_view found = attribute_of(variable, attribute);
  if (found.empty() || is_one_of(found, known)) return;
  fail("the variable " + in_quotes(attribute_of(variable, "name")) + " has the unknown " +
       attribute + " " + in_quotes(found));
}

/// A start value is `fixed` unless it says otherwise. What only the initialisation may change is a
/// parameter, be it an input or not; one without start value follows from others. Whole numbers and
/// truth values are called continuous where nothing is said of them.
void Rewriting::rewrite_variable(Node variable) {
  require_known(variable, "causality", {"input", "output", "internal", "none"});
  require_known(variable, "variability", {"constant", "parameter", "discrete", "continuous"});
  require_known(variable, "alias", {"noAlias", "alias", "negatedAlias"});
  const std::string_view causality = attribute_of(variable, "causality");
  const std::string_view variability = attribute_of(variable, "variability");
  const Node typed = variable.find_child([](const Node& child) {
    return is_one_of(child.name(), {"Real", "Integer", "Boolean", "String", "Enumeration"});
  });
  const bool has_start = !typed.attribute("start").empty();
  const bool is_parameter = variability == "parameter", is_constant = variability == "constant";
  const bool is_output = causality == "output", is_input = causality == "input";
  const bool moves = !is_parameter && !is_constant;
  const bool jumps = variability == "discrete" || std::string_view(typed.name()) != "Real";
  const char* const as = is_output                                 ? "output"
                         : is_input && moves                       ? "input"
                         : is_parameter && (is_input || has_start) ? "parameter"
                         : is_parameter                            ? "calculatedParameter"
                                                                   : "local";
  set(variable, "causality", as);
  set(variable, "variability",
      is_constant    ? "constant"
      : is_parameter ? "fixed"
      : jumps        ? "discrete"
                     : "continuous");
  const bool is_exact = typed.attribute("fixed").as_bool(true) || (is_input && moves);
  set(variable, "initial", !has_start && !is_input ? "calculated" : is_exact ? "exact" : "approx");
}

/// Of names whose variables there are not, nothing is said: the output depends on all inputs.
void Rewriting::rewrite_dependencies() {
  const Node variables = root_.child("ModelVariables");
  std::size_t number = 0;
  for (const Node variable : variables.children())
    if (variable.type() == pugi::node_element)
      numbers_.emplace(variable.attribute("name").as_string(), ++number);
  Node outputs = root_.append_child("ModelStructure").append_child("Outputs");
  for (const Node variable : variables.children("ScalarVariable")) {
    if (attribute_of(variable, "causality") != "output") continue;
    Node unknown = outputs.append_child("Unknown");
    const std::string name = variable.attribute("name").as_string();
    set(unknown, "index", std::to_string(numbers_.at(name)));
    const Node dependencies = variable.child("DirectDependency");
    if (!dependencies) continue;
    if (const auto numbers = numbers_of(dependencies))
      set(unknown, "dependencies", *numbers);
    else
      remarks_.push_back("output " + in_quotes(name) +
                         " depends directly on what is none of its variables: it is taken to "
                         "depend on all inputs");
  }
}

std::optional<std::string> Rewriting::numbers_of(const Node& dependencies) const {
  std::string numbers;
  for (const Node name : dependencies.children("Name")) {
    const auto found = numbers_.find(name.child_value());
    if (found == numbers_.end()) return std::nullopt;
    numbers += (numbers.empty() ? "" : " ") + std::to_string(found->second);
  }
  return numbers;
}

}  // namespace

std::vector<std::string> put_into_fmi2(Node root, const std::string& where) {
  return Rewriting(root, where).run();
}

}  // namespace concord
