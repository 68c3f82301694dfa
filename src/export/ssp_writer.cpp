#include "export/ssp_writer.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <pugixml.hpp>
#include <set>

#include "concord/errors.hpp"
#include "export/attributes.hpp"
#include "export/fmu_export.hpp"
#include "export/ssp_network.hpp"
#include "export/table_equations.hpp"
#include "files/archive_writer.hpp"
#include "files/scratch_folder.hpp"
#include "files/uri.hpp"
#include "subsystem/delay/delay_subsystem.hpp"
#include "subsystem/fmu/setup.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;
using Node = pugi::xml_node;

constexpr const char* namespaces[][2] = {
    {"xmlns:ssd", "http://ssp-standard.org/SSP1/SystemStructureDescription"},
    {"xmlns:ssc", "http://ssp-standard.org/SSP1/SystemStructureCommon"},
    {"xmlns:ssv", "http://ssp-standard.org/SSP1/SystemStructureParameterValues"}};

/// SSP's type of a variable, or null: SSP 1.0 has none that fits.
const char* ssp_type(FmiType type) {
  switch (type) {
    case FmiType::float32:
    case FmiType::float64:
      return "Real";
    case FmiType::boolean:
      return "Boolean";
    case FmiType::string:
      return "String";
    case FmiType::binary:
    case FmiType::clock:
      return nullptr;
    default:
      return "Integer";
  }
}

const char* ssp_kind(FmiCausality causality) {
  switch (causality) {
    case FmiCausality::input:
      return "input";
    case FmiCausality::output:
      return "output";
    case FmiCausality::parameter:
      return "parameter";
    case FmiCausality::calculated_parameter:
      return "calculatedParameter";
    default:
      return nullptr;
  }
}

/// One subsystem on its way into the file.
struct Part {
  std::string name;
  std::shared_ptr<const FmuSetup> fmu;
  std::string source;  ///< as a relative URI
  /// Outputs and states of equations that have other names.
  std::map<std::string, std::string> renamed, renamed_states;
  bool is_delay = false;
};

bool is_constraint(const SubsystemEntry& entry) { return entry.description.constraint.has_value(); }

/// In words: a subsystem that is no FMU yet.
std::string what_is(const SubsystemEntry& entry) {
  if (entry.type->delay) return entry.description.stands_for + " is a part of its own";
  return "subsystem '" + entry.description.name +
         (entry.type->table ? "' is a table" : "' has equations");
}

class SspWriter {
 public:
  SspWriter(const Model& model, fs::path path) : model_(model), path_(std::move(path)) {}

  std::vector<std::string> write();

 private:
  [[noreturn]] void refuse(const Location& location, const std::string& problem) const {
    throw InputError((location.empty() ? model_.source : location.text()) + ": " + problem);
  }
  /// The way out.
  std::string whole_model() const {
    return "; 'concord export-fmu " + model_.source +
           "' writes the whole model as one FMU with its solver inside";
  }
  bool is_archive() const { return path_.extension() == ".ssp"; }
  void refuse_unsupported() const;
  void note_losses();
  Part part_of(const SubsystemEntry& entry);
  Part part_of_equations(const SubsystemEntry& entry);
  Part part_of_delay(const SubsystemEntry& entry);
  FmuExport wanted_fmu() const;
  template <class Export>
  fs::path written(const std::string& name, const std::string& what, Export&& write);
  std::string stored(const fs::path& fmu);
  std::string relative_source(const fs::path& fmu) const;
  std::string description();
  void add_component(Node elements, const Part& part);
  void add_connectors(Node component, const Part& part);
  void add_values(Node component, const Part& part);
  void add_value(Node parameters, const Part& part, const FmuValue& value);
  std::string whole(const FmuValue& value, const std::string& what) const;
  static std::string enumeration_name(const FmiVariable& variable);
  static void add_enumerations(Node values, const Part& part, const std::vector<FmuValue>& given);
  void add_connection(Node connections, const ConnectionEntry& connection);
  bool is_of_constraint(const ConnectionEntry& connection) const;
  const Part* part_with(const std::string& name) const;
  static std::string name_in_fmu(const Part& part, StartQuantity::Kind kind,
                                 const std::string& name);
  enum class End { output, input };
  void set_end(Node node, End end, const std::string& name, const Location& location);
  std::string usable_unit(const FmiVariable& variable);

  const Model& model_;
  fs::path path_;
  std::vector<std::string> notes_;
  std::vector<Part> parts_;
  std::map<fs::path, std::string> stored_;  ///< FMU files and their names in the archive
  std::set<std::string> taken_;             ///< names in the archive, in lower case
  std::map<std::string, fs::path> delays_;  ///< FMUs of delays, by what is delayed
  UnitTexts units_;
};

void SspWriter::refuse_unsupported() const {
  for (const SubsystemEntry& entry : model_.subsystems)
    if (!entry.type->fmu && !entry.equations && !entry.type->table && !entry.type->delay &&
        !is_constraint(entry))
      refuse(entry.location, "subsystem '" + entry.description.name + "' is " +
                                 entry.description.kind +
                                 ", which SSP cannot hold; it holds FMUs (and equations, "
                                 "tables and delays, which become FMUs)" +
                                 whole_model());
  if (!is_archive() && fs::path(model_.source).extension() == ".ssp")
    refuse(model_.source,
           "its FMUs are inside the archive, where an .ssd file cannot name them; write an .ssp "
           "archive, or unpack this one");
  for (const SubsystemEntry& entry : model_.subsystems)
    if (!entry.type->fmu && !is_constraint(entry) && !is_archive())
      refuse(entry.location,
             what_is(entry) + ", and an .ssd file has no room for its FMU; write an .ssp archive" +
                 (entry.type->delay ? ""
                                    : ", or make the FMU first: concord export-fmu " +
                                          model_.source + " " + entry.description.name));
}

void SspWriter::note_losses() {
  if (has_network_annotation(model_))
    notes_.push_back(
        "events, constraints and initial equations become an annotation (concord.network), which "
        "Concord reads and other tools pass over");
  if (!model_.groups.empty())
    notes_.push_back("the schedule's groups are left out: SSP has no place for them");
  const bool efforts = std::any_of(model_.subsystems.begin(), model_.subsystems.end(),
                                   [](const SubsystemEntry& entry) { return entry.effort != 0.0; });
  if (efforts)
    notes_.push_back("the efforts of subsystems are left out: SSP has no place for them");
  const bool steps = std::any_of(model_.subsystems.begin(), model_.subsystems.end(),
                                 [](const SubsystemEntry& entry) { return entry.step != 0.0; });
  if (steps)
    notes_.push_back("the steps of subsystems (step:) are left out: SSP has no place for them");
  for (const ConnectionEntry& connection : model_.connections)
    if (connection.held)
      notes_.push_back("the hold of the connection " + connection.from + " -> " + connection.to +
                       " is left out: SSP has no place for it");
}

/// The file's place in the archive, one for each file, in names that every system can unpack.
std::string SspWriter::stored(const fs::path& fmu) {
  const fs::path file = fs::canonical(fmu);
  if (const auto known = stored_.find(file); known != stored_.end()) return known->second;
  std::string stem = fmu.stem().string();
  for (char& c : stem)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-') c = '_';
  std::string name = stem, key;
  for (int k = 2;; ++k) {
    key = name;
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (taken_.insert(key).second) break;
    name = stem + "_" + std::to_string(k);
  }
  return stored_[file] = "resources/" + name + ".fmu";
}

std::string SspWriter::relative_source(const fs::path& fmu) const {
  return uri_of(fs::proximate(fs::absolute(fmu), fs::absolute(path_).parent_path()).string());
}

FmuExport SspWriter::wanted_fmu() const {
  FmuExport wanted;
  wanted.binary = ExportedBinary::required;
  wanted.experiment.start = model_.start;
  wanted.experiment.stop = model_.stop;
  return wanted;
}

/// An FMU in a scratch folder, from where it is read back like any other; its notes are those of
/// `what`.
template <class Export>
fs::path SspWriter::written(const std::string& name, const std::string& what, Export&& write) {
  const fs::path folder = shared_scratch_folder(
      "ssp|" + fs::absolute(path_).string() + "|" + what, [&](const fs::path& place) {
        for (const std::string& note : write(place / (name + ".fmu")))
          notes_.push_back(what + ": " + note);
      });
  return folder / (name + ".fmu");
}

/// One FMU for all delays of one unit and kind.
Part SspWriter::part_of_delay(const SubsystemEntry& entry) {
  const DelayDescription& delay = *entry.type->delay;
  const bool held = delay.source.kind == SignalKind::held;
  const std::string what = "delay, " + delay.source.unit + (held ? ", held" : "");
  fs::path& file = delays_[what];
  if (file.empty())
    file = written("delay", what,
                   [&](const fs::path& path) { return export_delay(delay, wanted_fmu(), path); });
  notes_.push_back(what_is(entry) + ": it becomes an FMU (FMI 2.0, co-simulation)");
  FmuRequest request;
  request.subsystem = entry.description.name;
  request.path = file;
  request.location = entry.location;
  request.parameters = {{delay_parameter_name, {exact_number(delay.delay)}, "", entry.location}};
  Part part{request.subsystem, open_fmu(request), stored(file), {}, {}};
  part.is_delay = true;
  return part;
}

Part SspWriter::part_of_equations(const SubsystemEntry& entry) {
  const std::string& name = entry.description.name;
  const EquationsDescription equations = equations_of(entry, model_.start);
  const fs::path file = written(name, "subsystem '" + name + "'", [&](const fs::path& path) {
    return export_fmu(equations, wanted_fmu(), path);
  });
  notes_.push_back(what_is(entry) + ": it becomes an FMU (FMI 2.0)");
  FmuRequest request;
  request.subsystem = name;
  request.path = file;
  request.location = entry.location;
  if (!model_.initial.empty()) request.options.interface = FmuInterfaceChoice::model_exchange;
  Part part{name, open_fmu(request), stored(file), {}, {}};
  const ExportedModel layout = lay_out(equations);
  for (std::size_t i = 0; i < layout.outputs.size(); ++i)
    part.renamed[layout.outputs[i].name] = layout.variable(VariableRole::output, i).name;
  for (std::size_t i = 0; i < layout.states.size(); ++i)
    part.renamed_states[layout.states[i]] = layout.variable(VariableRole::state, i).name;
  return part;
}

Part SspWriter::part_of(const SubsystemEntry& entry) {
  if (entry.equations || entry.type->table) return part_of_equations(entry);
  if (entry.type->delay) return part_of_delay(entry);
  const fs::path& file = entry.type->fmu->request.path;
  return {entry.description.name,
          entry.type->fmu,
          is_archive() ? stored(file) : relative_source(file),
          {},
          {}};
}

/// The variable's unit where the file can define it: once each, and as the FMU does.
std::string SspWriter::usable_unit(const FmiVariable& variable) {
  if (variable.unit.empty()) return "";
  const auto [place, is_new] = units_.emplace(variable.unit, variable.base_unit);
  return place->second == variable.base_unit ? variable.unit : "";
}

void SspWriter::add_connectors(Node component, const Part& part) {
  Node connectors;
  for (const FmiVariable& variable : part.fmu->model->variables) {
    const char* kind = ssp_kind(variable.causality);
    const char* type = variable.type == FmiType::binary ? "Binary" : ssp_type(variable.type);
    if (kind == nullptr || type == nullptr || !variable.dimensions.empty()) continue;
    if (!connectors) connectors = component.append_child("ssd:Connectors");
    Node connector = connectors.append_child("ssd:Connector");
    set(connector, "name", variable.name);
    set(connector, "kind", kind);
    Node typed = connector.append_child((std::string("ssc:") + type).c_str());
    const std::string unit = usable_unit(variable);
    if (!unit.empty() && std::string_view(type) == "Real") set(typed, "unit", unit);
  }
}

/// The variable of that name or alias, which the reader has found before.
const FmiVariable& variable_of(const Part& part, const FmuValue& value) {
  const auto& variables = part.fmu->model->variables;
  return *std::find_if(variables.begin(), variables.end(), [&](const FmiVariable& candidate) {
    return candidate.name == value.name ||
           std::find(candidate.aliases.begin(), candidate.aliases.end(), value.name) !=
               candidate.aliases.end();
  });
}

/// One value per variable, the last, as it was given; what was transformed as the FMU gets it.
std::vector<FmuValue> values_of(const Part& part) {
  const FmuRequest& request = part.fmu->request;
  std::vector<FmuValue> result;
  for (const auto* list : {&request.parameters, &request.start, &request.values})
    for (FmuValue value : *list) {
      const FmiVariable& variable = variable_of(part, value);
      value.name = variable.name;
      for (const auto* starts : {&part.fmu->structural, &part.fmu->starts, &part.fmu->input_starts})
        for (const FmuStart& start : *starts)
          if (start.variable == &variable && !value.transformation.changes_nothing()) {
            value.texts = start.texts;
            value.unit.clear();
          }
      std::erase_if(result, [&](const FmuValue& other) { return other.name == value.name; });
      result.push_back(std::move(value));
    }
  return result;
}

/// The item that a text names, or has the value of; null where there is none.
const std::string* item_of(const FmiVariable& variable, const std::string& text) {
  for (const auto& [name, value] : variable.items)
    if (text == name || text == value) return &name;
  return nullptr;
}

std::string SspWriter::whole(const FmuValue& value, const std::string& what) const {
  const std::string& text = value.texts.front();
  const auto number = parse_number(text);
  if (!number) return text;
  if (*number < -2147483648.0 || *number > 2147483647.0)
    refuse(value.location, what + "is " + text +
                               ", which SSP's 32-bit integers cannot hold; "
                               "give it its value in the FMU");
  return std::to_string(static_cast<long>(*number));
}

void SspWriter::add_value(Node parameters, const Part& part, const FmuValue& value) {
  const FmiVariable& variable = variable_of(part, value);
  const std::string what = "subsystem '" + part.name + "': '" + value.name + "' ";
  const char* type = ssp_type(variable.type);
  if (type == nullptr || !variable.dimensions.empty())
    refuse(value.location, what +
                               "is an array or binary, and SSP 1.0 has no values of these; give "
                               "it its value in the FMU");
  Node parameter = parameters.append_child("ssv:Parameter");
  set(parameter, "name", value.name);
  std::string text = value.texts.front();
  const std::string* item = item_of(variable, text);
  if (item != nullptr) {
    type = "Enumeration";
    text = *item;
  } else if (std::string_view(type) == "Boolean") {
    text = text == "true" || text == "1" ? "true" : "false";
  } else if (std::string_view(type) == "Integer") {
    text = whole(value, what);
  } else if (const auto number = parse_number(text); number && std::string_view(type) == "Real") {
    text = xml_number(*number);
  }
  Node typed = parameter.append_child((std::string("ssv:") + type).c_str());
  set(typed, "value", text);
  if (item != nullptr) set(typed, "name", enumeration_name(variable));
  if (std::string_view(type) == "Real" && !value.unit.empty()) set(typed, "unit", value.unit);
}

std::string SspWriter::enumeration_name(const FmiVariable& variable) {
  return variable.declared_type.empty() ? variable.name : variable.declared_type;
}

/// Each enumeration of the set once, by its name in the FMU.
void SspWriter::add_enumerations(Node values, const Part& part,
                                 const std::vector<FmuValue>& given) {
  std::set<std::string> defined;
  Node enumerations;
  for (const FmuValue& value : given) {
    const FmiVariable& variable = variable_of(part, value);
    if (item_of(variable, value.texts.front()) == nullptr ||
        !defined.insert(enumeration_name(variable)).second)
      continue;
    if (!enumerations) enumerations = values.append_child("ssv:Enumerations");
    Node enumeration = enumerations.append_child("ssc:Enumeration");
    set(enumeration, "name", enumeration_name(variable));
    for (const auto& [name, number] : variable.items) {
      Node item = enumeration.append_child("ssc:Item");
      set(item, "name", name);
      set(item, "value", number);
    }
  }
}

void SspWriter::add_values(Node component, const Part& part) {
  const std::vector<FmuValue> given = values_of(part);
  if (given.empty()) return;
  Node values = component.append_child("ssd:ParameterBindings")
                    .append_child("ssd:ParameterBinding")
                    .append_child("ssd:ParameterValues")
                    .append_child("ssv:ParameterSet");
  set(values, "version", "1.0");
  set(values, "name", part.name);
  Node parameters = values.append_child("ssv:Parameters");
  UnitTexts units;
  for (const FmuValue& value : given) {
    add_value(parameters, part, value);
    if (!value.unit.empty()) units.emplace(value.unit, value.unit);
  }
  add_enumerations(values, part, given);
  if (!units.empty()) add_units(values.append_child("ssv:Units"), units, "ssc:");
}

void SspWriter::add_component(Node elements, const Part& part) {
  Node component = elements.append_child("ssd:Component");
  set(component, "name", part.name);
  set(component, "type", "application/x-fmu-sharedlibrary");
  set(component, "source", part.source);
  using Choice = FmuInterfaceChoice;
  const Choice choice = part.fmu->request.options.interface;
  if (choice != Choice::automatic)
    set(component, "implementation",
        choice == Choice::co_simulation    ? "CoSimulation"
        : choice == Choice::model_exchange ? "ModelExchange"
                                           : "ScheduledExecution");
  add_connectors(component, part);
  add_values(component, part);
  if (part.is_delay)
    set(component.append_child("ssd:Annotations").append_child("ssc:Annotation"), "type",
        delay_annotation);
}

/// Null where there is none.
const Part* SspWriter::part_with(const std::string& name) const {
  const auto longest = [&](const Part& a, const Part& b) {
    const bool holds_a = name.starts_with(a.name + "."), holds_b = name.starts_with(b.name + ".");
    return holds_a != holds_b ? holds_b : a.name.size() < b.name.size();
  };
  const auto part = std::max_element(parts_.begin(), parts_.end(), longest);
  return part == parts_.end() || !name.starts_with(part->name + ".") ? nullptr : &*part;
}

/// As the part's FMU calls it.
std::string SspWriter::name_in_fmu(const Part& part, StartQuantity::Kind kind,
                                   const std::string& name) {
  using Kind = StartQuantity::Kind;
  const std::string variable = name.substr(part.name.size() + 1);
  if (kind != Kind::output && kind != Kind::state && kind != Kind::rate) return variable;
  const auto& renamed = kind == Kind::output ? part.renamed : part.renamed_states;
  const auto other = renamed.find(variable);
  return other == renamed.end() ? variable : other->second;
}

void SspWriter::set_end(Node node, End end, const std::string& name, const Location& location) {
  const Part* const part = part_with(name);
  if (part == nullptr) refuse(location, "there is no subsystem for " + in_quotes(name));
  const auto kind = end == End::output ? StartQuantity::Kind::output : StartQuantity::Kind::input;
  const std::string variable_name = name_in_fmu(*part, kind, name);
  const auto& variables = part->fmu->model->variables;
  const bool there =
      std::any_of(variables.begin(), variables.end(), [&](const FmiVariable& variable) {
        return variable.name == variable_name && variable.dimensions.empty();
      });
  if (!there)
    refuse(location,
           in_quotes(name) + " is no scalar variable, and SSP 1.0 connects no elements of arrays");
  const bool starts = end == End::output;
  set(node, starts ? "startElement" : "endElement", part->name);
  set(node, starts ? "startConnector" : "endConnector", variable_name);
}

/// Which comes back with the constraint.
bool SspWriter::is_of_constraint(const ConnectionEntry& connection) const {
  return std::ranges::any_of(model_.constraints, [&](const ConstraintEntry& constraint) {
    const std::string own = constraint.unknown + ".";
    return connection.from.starts_with(own) || connection.to.starts_with(own);
  });
}

void SspWriter::add_connection(Node connections, const ConnectionEntry& connection) {
  Node node = connections.append_child("ssd:Connection");
  set_end(node, End::output, connection.from, connection.location);
  set_end(node, End::input, connection.to, connection.location);
  if (!connection.converts_units) set(node, "suppressUnitConversion", "true");
  if (connection.factor == 1.0 && connection.offset == 0.0) return;
  Node transformation = node.append_child("ssc:LinearTransformation");
  set(transformation, "factor", xml_number(connection.factor));
  set(transformation, "offset", xml_number(connection.offset));
}

std::string SspWriter::description() {
  pugi::xml_document document;
  Node root = document.append_child("ssd:SystemStructureDescription");
  for (const auto& [prefix, uri] : namespaces) set(root, prefix, uri);
  set(root, "version", "1.0");
  set(root, "name", model_.name);
  set(root, "generationTool", "Concord " CONCORD_VERSION);
  Node system = root.append_child("ssd:System");
  set(system, "name", model_.name);
  Node elements = system.append_child("ssd:Elements");
  for (const Part& part : parts_) add_component(elements, part);
  Node connections;
  for (const ConnectionList* list : {&model_.connections, &model_.text_connections})
    for (const ConnectionEntry& connection : *list) {
      if (is_of_constraint(connection)) continue;
      if (!connections) connections = system.append_child("ssd:Connections");
      add_connection(connections, connection);
    }
  if (has_network_annotation(model_)) {
    const auto name_in_ssp = [this](StartQuantity::Kind kind, const std::string& name) {
      const Part* const part = part_with(name);
      return part == nullptr ? name : part->name + "." + name_in_fmu(*part, kind, name);
    };
    add_network_annotation(model_, name_in_ssp, system);
  }
  if (!units_.empty()) add_units(root.append_child("ssd:Units"), units_, "ssc:");
  Node experiment = root.append_child("ssd:DefaultExperiment");
  set(experiment, "startTime", xml_number(model_.start));
  set(experiment, "stopTime", xml_number(model_.stop));
  return xml_text(document);
}

std::vector<std::string> SspWriter::write() {
  refuse_unsupported();
  note_losses();
  for (const SubsystemEntry& entry : model_.subsystems)
    if (!is_constraint(entry)) parts_.push_back(part_of(entry));
  for (const Part& part : parts_)
    if (same_file(path_, part.fmu->request.path))
      throw InputError("-o names the FMU '" + path_.string() +
                       "' of the model; choose another file");
  std::string text = description();
  if (!is_archive()) {
    write_whole_file(path_, text);
    return notes_;
  }
  ArchiveWriter archive(path_);
  archive.add("SystemStructure.ssd", std::move(text));
  for (const auto& [file, name] : stored_) archive.add_file(name, file);
  archive.close();
  return notes_;
}

}  // namespace

std::vector<std::string> write_ssp(const Model& model, const fs::path& path) {
  return SspWriter(model, path).write();
}

}  // namespace concord
