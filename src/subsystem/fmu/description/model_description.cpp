#include "subsystem/fmu/description/model_description.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>

#include "files/xml_document.hpp"
#include "subsystem/fmu/description/clock_reader.hpp"
#include "subsystem/fmu/description/fmi1_description.hpp"
#include "support/hex_text.hpp"
#include "support/wording.hpp"
#include "units/unit_definitions.hpp"

namespace concord {

namespace {

using Node = pugi::xml_node;

constexpr std::pair<std::string_view, FmiType> types[] = {
    {"Float32", FmiType::float32}, {"Float64", FmiType::float64},
    {"Int8", FmiType::int8},       {"UInt8", FmiType::uint8},
    {"Int16", FmiType::int16},     {"UInt16", FmiType::uint16},
    {"Int32", FmiType::int32},     {"UInt32", FmiType::uint32},
    {"Int64", FmiType::int64},     {"UInt64", FmiType::uint64},
    {"Boolean", FmiType::boolean}, {"String", FmiType::string},
    {"Binary", FmiType::binary},   {"Enumeration", FmiType::enumeration},
    {"Clock", FmiType::clock},     {"Real", FmiType::float64},
    {"Integer", FmiType::int32}};

constexpr std::pair<std::string_view, FmiCausality> causalities[] = {
    {"", FmiCausality::local},
    {"local", FmiCausality::local},
    {"parameter", FmiCausality::parameter},
    {"calculatedParameter", FmiCausality::calculated_parameter},
    {"structuralParameter", FmiCausality::structural_parameter},
    {"input", FmiCausality::input},
    {"output", FmiCausality::output},
    {"independent", FmiCausality::independent}};

constexpr std::pair<std::string_view, FmiVariability> variabilities[] = {
    {"continuous", FmiVariability::continuous},
    {"discrete", FmiVariability::discrete},
    {"constant", FmiVariability::constant},
    {"fixed", FmiVariability::fixed},
    {"tunable", FmiVariability::tunable}};

constexpr double most_elements = 1e6;

template <class Value, std::size_t N>
std::optional<Value> look_up(const std::pair<std::string_view, Value> (&table)[N],
                             std::string_view word) {
  for (const auto& [name, value] : table)
    if (name == word) return value;
  return std::nullopt;
}

template <class Value, std::size_t N>
const char* word_for(const std::pair<std::string_view, Value> (&table)[N], Value value) {
  for (const auto& [name, candidate] : table)
    if (candidate == value) return name.data();
  return "?";
}

/// Every digit counts: a double holds 53 bits only. "4.0" and "1e3" are whole, too.
template <class Whole>
bool is_whole(std::string_view text) {
  text.remove_prefix(text.starts_with('+') && !text.starts_with("+-") ? 1 : 0);
  Whole exact{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, exact);
  if (stop == end || error == std::errc::result_out_of_range) return error == std::errc{};
  const auto number = parse_number(text);
  return number && *number == std::floor(*number) &&
         *number >= static_cast<double>(std::numeric_limits<Whole>::min()) &&
         *number < static_cast<double>(std::numeric_limits<Whole>::max()) + 1.0;
}

std::string text(const Node& node, const char* attribute) {
  return node.attribute(attribute).as_string();
}

/// One reading of one modelDescription.xml.
class Reader {
 public:
  Reader(const Node& root, std::string where) : where_(std::move(where)), root_(root) {}

  ModelDescription read();

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(where_ + ": " + problem);
  }
  std::optional<double> number(const Node& node, const char* attribute) const;
  std::uint64_t count(const Node& node, const char* attribute) const;
  void read_version();
  std::string identifier(const Node& node);
  std::optional<FmiInterface> read_interface(const char* element);
  void read_declared_types();
  void read_variables();
  void read_variable(const Node& node, const Node& typed);
  Node source_of(const char* attribute, const Node& typed) const;
  std::string attribute_of(const char* attribute, const Node& typed) const {
    return text(source_of(attribute, typed), attribute);
  }
  void read_aliases(const Node& node, FmiVariable& variable) const;
  void check_start(const FmiVariable& variable);
  void read_nominal(const Node& typed, FmiVariable& variable) const;
  void read_unit(const Node& typed, FmiVariable& variable) const;
  void read_items(FmiVariable& variable) const;
  void read_bytes(const Node& node, FmiVariable& variable) const;
  void read_start(const Node& typed, FmiVariable& variable) const;
  void read_dimensions();
  void resolve_clocks();
  void set_initial(const Node& node, FmiVariable& variable) const;
  void resolve_derivatives();
  std::size_t variable_at(const std::string& key) const;
  FmiUnknown read_unknown(const Node& node) const;
  void read_structure();
  void read_structure_v2(const Node& structure);
  void read_structure_v3(const Node& structure);

  std::string where_;
  Node root_;
  ModelDescription result_;
  std::map<std::string, UnitDefinition> units_;
  std::map<std::string, Node> declared_types_;
  std::vector<Node> nodes_;  ///< typed element of each variable
  std::unordered_map<FmiReference, std::size_t> by_reference_;
};

std::optional<double> Reader::number(const Node& node, const char* attribute) const {
  const pugi::xml_attribute found = node.attribute(attribute);
  if (!found) return std::nullopt;
  const auto value = parse_number(found.value());
  if (!value)
    fail("the attribute " + std::string(attribute) + " of <" + node.name() +
         "> must be a number, "
         "not " +
         in_quotes(found.value()));
  return value;
}

std::uint64_t Reader::count(const Node& node, const char* attribute) const {
  const std::string found = text(node, attribute);
  const auto value = parse_number(found);
  const bool usable = value && *value >= 0.0 && *value <= 4294967295.0 &&
                      *value == static_cast<double>(static_cast<std::uint64_t>(*value));
  if (!usable)
    fail("the attribute " + std::string(attribute) + " of <" + node.name() +
         "> must be a count, not " + in_quotes(found));
  return static_cast<std::uint64_t>(*value);
}

void Reader::read_version() {
  if (std::string_view(root_.name()) != "fmiModelDescription")
    fail("begins with <" + std::string(root_.name()) + "> instead of <fmiModelDescription>");
  const std::string version = text(root_, "fmiVersion");
  if (version == "2.0")
    result_.version = FmiVersion::v2;
  else if (version == "3.0" || version.starts_with("3.0."))
    result_.version = FmiVersion::v3;
  else
    fail("FMI version " + in_quotes(version) +
         " is not supported; export the FMU as FMI 2.0 or "
         "3.0");
}

/// It only names the binary: what would lead elsewhere is refused, what is no name of C is not.
std::string Reader::identifier(const Node& node) {
  std::string found = text(node, "modelIdentifier");
  const bool leads_away = found.empty() || found == "." || found == ".." ||
                          found.find_first_of("/\\:") != std::string::npos ||
                          std::any_of(found.begin(), found.end(),
                                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (leads_away) fail("the modelIdentifier must be a name of C, not " + in_quotes(found));
  if (!is_name(found))
    result_.remarks.push_back("its modelIdentifier " + in_quotes(found) + " is no name of C");
  return found;
}

std::optional<FmiInterface> Reader::read_interface(const char* element) {
  const Node node = root_.child(element);
  if (!node) return std::nullopt;
  const bool v2 = result_.version == FmiVersion::v2;
  const auto flag = [&](const char* in_v2, const char* in_v3) {
    return node.attribute(v2 ? in_v2 : in_v3).as_bool();
  };
  FmiInterface result;
  result.model_identifier = identifier(node);
  result.needs_execution_tool = flag("needsExecutionTool", "needsExecutionTool");
  result.only_once_per_process =
      flag("canBeInstantiatedOnlyOncePerProcess", "canBeInstantiatedOnlyOncePerProcess");
  result.state = flag("canGetAndSetFMUstate", "canGetAndSetFMUState");
  result.serializes = flag("canSerializeFMUstate", "canSerializeFMUState");
  result.directional = flag("providesDirectionalDerivative", "providesDirectionalDerivatives");
  result.variable_steps = node.attribute("canHandleVariableCommunicationStepSize").as_bool();
  result.interpolates = v2 && node.attribute("canInterpolateInputs").as_bool();
  result.completed_step = v2 ? !node.attribute("completedIntegratorStepNotNeeded").as_bool()
                             : node.attribute("needsCompletedIntegratorStep").as_bool();
  result.event_mode = !v2 && node.attribute("hasEventMode").as_bool();
  result.intermediate_update = !v2 && node.attribute("providesIntermediateUpdate").as_bool();
  result.output_derivative_order = node.attribute("maxOutputDerivativeOrder").as_int();
  result.fixed_internal_step = number(node, "fixedInternalStepSize").value_or(0.0);
  result.mime_type = text(node, "mimeType");
  if (node.attribute("numberOfContinuousStates"))
    result.unnamed_states = count(node, "numberOfContinuousStates");
  return result;
}

void Reader::read_declared_types() {
  for (const Node type : root_.child("TypeDefinitions").children()) {
    const Node typed = result_.version == FmiVersion::v2 ? type.first_child() : type;
    declared_types_.emplace(text(type, "name"), typed);
  }
}

void Reader::read_variables() {
  for (const Node node : root_.child("ModelVariables").children()) {
    if (node.type() != pugi::node_element) continue;
    Node typed = node;
    if (result_.version == FmiVersion::v2)
      for (const Node child : node.children())
        if (look_up(types, child.name())) typed = child;
    read_variable(node, typed);
  }
  if (result_.version == FmiVersion::v3) read_dimensions();
}

void Reader::read_variable(const Node& node, const Node& typed) {
  FmiVariable variable;
  variable.name = text(node, "name");
  const auto type = look_up(types, typed.name());
  if (variable.name.empty()) fail("a variable has no name");
  if (!type)
    fail("the variable " + in_quotes(variable.name) + " has the unknown type " +
         in_quotes(typed.name()));
  variable.type = *type;
  variable.reference = static_cast<FmiReference>(count(node, "valueReference"));
  const auto causality = look_up(causalities, text(node, "causality"));
  if (!causality)
    fail("the variable " + in_quotes(variable.name) + " has the unknown causality " +
         in_quotes(text(node, "causality")));
  variable.causality = *causality;
  const bool real = *type == FmiType::float64 || *type == FmiType::float32;
  const bool v2 = result_.version == FmiVersion::v2;
  variable.variability =
      look_up(variabilities, text(node, "variability"))
          .value_or(real || v2 ? FmiVariability::continuous : FmiVariability::discrete);
  variable.intermediate_update = node.attribute("intermediateUpdate").as_bool();
  variable.negated = text(node, "alias") == "negatedAlias";
  variable.set_once = !node.attribute("canHandleMultipleSetPerTimeInstant").as_bool(true);
  set_initial(node, variable);
  read_aliases(node, variable);
  variable.declared_type = text(typed, "declaredType");
  read_unit(typed, variable);
  read_nominal(typed, variable);
  read_items(variable);
  read_bytes(node, variable);
  read_start(typed, variable);
  check_start(variable);
  if (variable.type == FmiType::clock)
    variable.clock = read_clock([&](const char* name) { return attribute_of(name, typed); },
                                variable.name, where_);
  by_reference_.emplace(variable.reference, result_.variables.size());
  nodes_.push_back(typed);
  result_.variables.push_back(std::move(variable));
}

/// The defaults of `initial` (FMI 2.0.4, 2.2.7; FMI 3.0.2, 2.4.7.5).
void Reader::set_initial(const Node& node, FmiVariable& variable) const {
  variable.initial = text(node, "initial");
  if (!variable.initial.empty()) return;
  const bool given = variable.causality == FmiCausality::parameter ||
                     variable.causality == FmiCausality::structural_parameter ||
                     variable.causality == FmiCausality::input ||
                     variable.variability == FmiVariability::constant;
  variable.initial = given ? "exact" : "calculated";
}

/// The node that has the attribute: the variable's own, else its declared type's.
Node Reader::source_of(const char* attribute, const Node& typed) const {
  if (typed.attribute(attribute)) return typed;
  const auto declared = declared_types_.find(text(typed, "declaredType"));
  return declared != declared_types_.end() ? declared->second : typed;
}

/// FMI 3: other names of the same variable.
void Reader::read_aliases(const Node& node, FmiVariable& variable) const {
  for (const Node alias : node.children("Alias")) variable.aliases.push_back(text(alias, "name"));
}

void Reader::read_nominal(const Node& typed, FmiVariable& variable) const {
  const auto value = parse_number(attribute_of("nominal", typed));
  if (value && std::isfinite(*value)) variable.nominal = std::abs(*value);
}

void Reader::read_unit(const Node& typed, FmiVariable& variable) const {
  variable.unit = attribute_of("unit", typed);
  const Node relative = source_of("relativeQuantity", typed);
  variable.relative = relative.attribute("relativeQuantity").as_bool();
  const auto unit = units_.find(variable.unit);
  if (unit == units_.end()) return;
  variable.base_unit = in_base_units(unit->second, variable.relative);
}

void Reader::read_items(FmiVariable& variable) const {
  const auto declared = declared_types_.find(variable.declared_type);
  if (variable.type != FmiType::enumeration || declared == declared_types_.end()) return;
  for (const Node item : declared->second.children("Item"))
    variable.items.emplace_back(text(item, "name"), text(item, "value"));
}

/// FMI 3: "application/octet-stream", which stands for anything, is the standard's default.
void Reader::read_bytes(const Node& node, FmiVariable& variable) const {
  if (variable.type != FmiType::binary) return;
  variable.mime = attribute_of("mimeType", node);
  if (variable.mime == "application/octet-stream") variable.mime.clear();
  const Node source = source_of("maxSize", node);
  if (source.attribute("maxSize")) variable.most_bytes = count(source, "maxSize");
}

void Reader::read_start(const Node& typed, FmiVariable& variable) const {
  if (is_text(variable.type)) {
    if (typed.attribute("start")) variable.start.push_back(text(typed, "start"));
    for (const Node start : typed.children("Start")) variable.start.push_back(text(start, "value"));
    return;
  }
  variable.start = words(text(typed, "start"));
}

/// What no value of the type is: refused where Concord sets it, told where the FMU's own counts.
void Reader::check_start(const FmiVariable& variable) {
  if (variable.type == FmiType::clock) return;
  for (const std::string& start : variable.start) {
    if (fits(start, variable.type)) continue;
    const std::string problem = "the start value of " + in_quotes(variable.name) +
                                " must be of type " + name_of(variable.type) + ", not " +
                                in_quotes(start);
    if (variable.causality == FmiCausality::input ||
        variable.causality == FmiCausality::structural_parameter)
      fail(problem);
    result_.remarks.push_back(problem + "; the FMU's own counts");
    return;
  }
}

void Reader::read_dimensions() {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (const Node node : nodes_[i].children("Dimension")) {
      FmiDimension dimension;
      if (node.attribute("start"))
        dimension.length = count(node, "start");
      else
        dimension.parameter = variable_at(text(node, "valueReference"));
      result_.variables[i].dimensions.push_back(dimension);
    }
}

/// FMI 2 counts variables from 1; FMI 3 names them by their references.
std::size_t Reader::variable_at(const std::string& key) const {
  const auto value = parse_number(key);
  const bool whole = value && *value >= 0.0 && *value <= 4294967295.0;
  if (whole && result_.version == FmiVersion::v2 && *value >= 1.0 &&
      *value <= static_cast<double>(result_.variables.size()))
    return static_cast<std::size_t>(*value) - 1;
  if (whole && result_.version == FmiVersion::v3) {
    const auto found = by_reference_.find(static_cast<FmiReference>(*value));
    if (found != by_reference_.end()) return found->second;
  }
  fail("there is no variable " + in_quotes(key) + " to refer to");
}

void Reader::resolve_derivatives() {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].attribute("derivative"))
      result_.variables[i].derivative_of = variable_at(text(nodes_[i], "derivative"));
}

/// What is clocked changes at ticks alone, whatever its variability.
void Reader::resolve_clocks() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    FmiVariable& variable = result_.variables[i];
    for (const std::string& word : words(text(nodes_[i], "clocks"))) {
      variable.clocks.push_back(variable_at(word));
      const FmiVariable& clock = result_.variables[variable.clocks.back()];
      if (clock.type != FmiType::clock)
        fail("the variable " + in_quotes(variable.name) + " has " + in_quotes(clock.name) +
             " among its clocks, which is none");
      variable.variability = FmiVariability::discrete;
      FmiClock& announcing = *result_.variables[variable.clocks.back()].clock;
      announcing.announces =
          announcing.announces || (announcing.is_time_based() && is_text(variable.type) &&
                                   variable.causality == FmiCausality::output);
    }
  }
}

FmiUnknown Reader::read_unknown(const Node& node) const {
  FmiUnknown unknown;
  unknown.variable =
      variable_at(text(node, result_.version == FmiVersion::v2 ? "index" : "valueReference"));
  if (!node.attribute("dependencies")) return unknown;
  unknown.dependencies.emplace();
  for (const std::string& word : words(text(node, "dependencies")))
    unknown.dependencies->push_back(variable_at(word));
  return unknown;
}

void Reader::read_structure_v2(const Node& structure) {
  for (const Node node : structure.child("Outputs").children("Unknown"))
    result_.outputs.push_back(read_unknown(node));
  for (const Node node : structure.child("Derivatives").children("Unknown"))
    result_.derivatives.push_back(read_unknown(node));
  if (root_.attribute("numberOfEventIndicators"))
    result_.event_indicators = count(root_, "numberOfEventIndicators");
}

void Reader::read_structure_v3(const Node& structure) {
  for (const Node node : structure.children("Output"))
    result_.outputs.push_back(read_unknown(node));
  for (const Node node : structure.children("ContinuousStateDerivative"))
    result_.derivatives.push_back(read_unknown(node));
  for (const Node node : structure.children("EventIndicator"))
    result_.indicator_variables.push_back(read_unknown(node).variable);
}

void Reader::read_structure() {
  const Node structure = root_.child("ModelStructure");
  if (result_.version == FmiVersion::v2)
    read_structure_v2(structure);
  else
    read_structure_v3(structure);
  for (const FmiUnknown& unknown : result_.derivatives)
    if (!result_.variables[unknown.variable].derivative_of)
      fail("the variable " + in_quotes(result_.variables[unknown.variable].name) +
           " stands among the derivatives, but has no attribute 'derivative'");
}

ModelDescription Reader::read() {
  read_version();
  result_.model_name = text(root_, "modelName");
  result_.tool = text(root_, "generationTool");
  result_.token = text(root_, result_.version == FmiVersion::v2 ? "guid" : "instantiationToken");
  result_.co_simulation = read_interface("CoSimulation");
  result_.model_exchange = read_interface("ModelExchange");
  if (result_.version == FmiVersion::v3)
    result_.scheduled_execution = read_interface("ScheduledExecution");
  if (!result_.co_simulation && !result_.model_exchange && !result_.scheduled_execution)
    fail("offers neither co-simulation nor model exchange, which Concord needs");
  units_ = read_unit_definitions(root_);
  read_declared_types();
  read_variables();
  resolve_derivatives();
  if (result_.version == FmiVersion::v3) resolve_clocks();
  read_structure();
  apply_dimensions(result_, where_);
  const Node experiment = root_.child("DefaultExperiment");
  result_.start = number(experiment, "startTime");
  result_.stop = number(experiment, "stopTime");
  result_.tolerance = number(experiment, "tolerance");
  result_.step = number(experiment, "stepSize");
  return std::move(result_);
}

}  // namespace

ModelDescription read_model_description(const std::filesystem::path& folder,
                                        const std::string& fmu) {
  const std::string where = fmu + ": modelDescription.xml";
  pugi::xml_document document;
  load_xml(document, folder / "modelDescription.xml", where);
  const Node root = document.document_element();
  if (text(root, "fmiVersion") != "1.0") return Reader(root, where).read();
  std::vector<std::string> remarks = put_into_fmi2(root, where);
  ModelDescription result = Reader(root, where).read();
  result.version = FmiVersion::v1;
  result.remarks.insert(result.remarks.end(), remarks.begin(), remarks.end());
  return result;
}

void apply_dimensions(ModelDescription& model, const std::string& where) {
  const auto length_of = [&](const FmiDimension& dimension) {
    if (!dimension.parameter) return static_cast<double>(dimension.length);
    const auto& start = model.variables[*dimension.parameter].start;
    return parse_number(start.empty() ? "" : start.front()).value_or(-1.0);
  };
  for (FmiVariable& variable : model.variables) {
    double size = 1.0;
    for (const FmiDimension& dimension : variable.dimensions) {
      const double length = length_of(dimension);
      if (length < 0.0 || length != std::floor(length))
        throw InputError(where + ": the size of " + in_quotes(variable.name) + " is not known");
      size *= length;
    }
    if (size > most_elements)
      throw InputError(where + ": the array " + in_quotes(variable.name) +
                       " has more than a million elements");
    variable.size = static_cast<std::size_t>(size);
  }
  if (model.version == FmiVersion::v3) model.event_indicators = 0;
  for (const std::size_t i : model.indicator_variables)
    model.event_indicators += model.variables[i].size;
  if (static_cast<double>(model.event_indicators) > most_elements)
    throw InputError(where + ": more than a million event indicators");
}

SignalKind kind_of(const FmiVariable& variable) {
  const bool moves =
      !takes_whole_numbers(variable) && variable.variability == FmiVariability::continuous;
  return moves ? SignalKind::continuous : SignalKind::held;
}

bool puts_out(const ModelDescription& model, FmiType type) {
  return std::ranges::any_of(model.variables, [&](const FmiVariable& variable) {
    return variable.type == type && variable.causality == FmiCausality::output;
  });
}

bool takes_whole_numbers(const FmiVariable& variable) {
  return variable.type != FmiType::float64 && variable.type != FmiType::float32;
}

bool has_type(const ModelDescription& model, FmiType type) {
  return std::any_of(model.variables.begin(), model.variables.end(),
                     [&](const FmiVariable& variable) { return variable.type == type; });
}

const char* name_of(FmiVersion version) {
  constexpr const char* names[] = {"1.0", "2.0", "3.0"};
  return names[static_cast<std::size_t>(version)];
}

const char* prefix_of(FmiVersion version) {
  constexpr const char* prefixes[] = {"fmi", "fmi2", "fmi3"};
  return prefixes[static_cast<std::size_t>(version)];
}

const char* name_of(FmiType type) { return word_for(types, type); }
const char* name_of(FmiCausality causality) {
  return causality == FmiCausality::local ? "local" : word_for(causalities, causality);
}
const char* name_of(FmiVariability variability) { return word_for(variabilities, variability); }

bool fits(const std::string& text, FmiType type) {
  switch (type) {
    case FmiType::string:
      return true;
    case FmiType::binary:
      return bytes_of_hex(text).has_value();
    case FmiType::boolean:
      return text == "true" || text == "false" || text == "0" || text == "1";
    case FmiType::float32:
    case FmiType::float64:
      return parse_number(text).has_value();
    case FmiType::int8:
      return is_whole<std::int8_t>(text);
    case FmiType::uint8:
      return is_whole<std::uint8_t>(text);
    case FmiType::int16:
      return is_whole<std::int16_t>(text);
    case FmiType::uint16:
      return is_whole<std::uint16_t>(text);
    case FmiType::int32:
      return is_whole<std::int32_t>(text);
    case FmiType::uint32:
      return is_whole<std::uint32_t>(text);
    case FmiType::uint64:
      return is_whole<std::uint64_t>(text);
    case FmiType::int64:
    case FmiType::enumeration:
      return is_whole<std::int64_t>(text);
    default:
      return false;
  }
}

}  // namespace concord
