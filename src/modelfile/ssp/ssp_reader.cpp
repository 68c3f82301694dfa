#include "modelfile/ssp/ssp_reader.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "files/archive.hpp"
#include "files/ssp_annotation.hpp"
#include "files/uri.hpp"
#include "files/xml_document.hpp"
#include "modelfile/fmu/fmu_entry.hpp"
#include "modelfile/ssp/ssp_delays.hpp"
#include "modelfile/ssp/ssp_experiment.hpp"
#include "modelfile/ssp/ssp_network.hpp"
#include "modelfile/ssp/ssp_parameters.hpp"
#include "modelfile/ssp/ssp_paths.hpp"
#include "modelfile/ssp/ssp_units.hpp"
#include "modelfile/ssp/ssp_variables.hpp"
#include "modelfile/ssp/ssp_xml.hpp"
#include "subsystem/delay/delay_subsystem.hpp"
#include "subsystem/fmu/setup.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;
using Node = pugi::xml_node;

constexpr std::size_t most_files = 200;

/// A connector of an element; the path of an element is the names from the root ("drive/motor").
struct Connector {
  std::string path;
  std::string name;
  auto operator<=>(const Connector&) const = default;
};

struct Edge {
  Connector from;
  LinearTransformation transformation;
  bool converts_units = true;
  std::string where;

  bool says_the_same(const Edge& other) const {
    return from == other.from && transformation == other.transformation &&
           converts_units == other.converts_units;
  }
};

struct Component {
  std::string path;
  FmuRequest request;
  bool is_delay = false;  ///< which Concord has written
};

/// One reading of an SSP. Each member is a table of what was found, which the connections at the
/// end need all together.
class SspReader {
 public:
  /// `source`: the description, or the archive that it is in.
  explicit SspReader(const fs::path& source) : source_(source.string()) {
    const fs::path file = described_in(source, "SystemStructure.ssd");
    folder_ = file.parent_path();
    units_ = SspUnits(load(file, source_));
  }

  Model read(const ModelChanges& changes);

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(source_ + ": " + problem);
  }
  fs::path described_in(const fs::path& source, const std::string& description);
  SspSources sources_beside(const fs::path& component) {
    return {folder_, component, &read_files_};
  }
  std::string name_of(const fs::path& file) const;
  void list_files(Model& model) const;
  Node load(const fs::path& file, const std::string& name);
  void read_system(const Node& system, const std::string& path);
  void read_element(const Node& element, const std::string& path, const std::string& inner);
  void read_component(const Node& component, const std::string& path);
  void read_fmu(const Node& component, const std::string& path);
  void read_package(const Node& component, const std::string& path);
  void read_dictionaries(const Node& system, const std::string& path);
  void refer_to_dictionary(const Node& reference, const std::string& path,
                           const std::string& inner);
  void read_connectors(const Node& element, const std::string& path);
  void read_connections(const Node& system, const std::string& path);
  Connector end_of(const Node& connection, const char* element, const char* connector,
                   const std::string& path) const;
  void bind(const Node& element, const std::string& path, const fs::path& component);
  bool give(const std::string& path, const FmuValue& value);
  bool give_element(const std::string& path, const FmuValue& value);
  void pass_on(const Connector& connector, FmuValue value, std::size_t depth);
  void arrive(const Connector& connector, FmuValue& value) const;
  void name_components();
  /// A connection and the connector at its end.
  struct Link {
    const Edge* edge;
    Connector to;
  };
  std::vector<Link> links_to(const Connector& input) const;
  void note(const std::string& text) {
    if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
  }
  std::string unit_at(const Connector& connector, const Model& model);
  void convert(const std::vector<Link>& links, const Model& model, ConnectionEntry& entry);
  void connect(Model& model);
  std::string name_in(const std::string& path, const std::string& name) const;

  fs::path folder_;
  std::string source_;
  std::vector<std::unique_ptr<pugi::xml_document>> documents_;  ///< the first is the model's
  SspUnits units_{pugi::xml_node()};
  std::set<Connector> connectors_;
  std::map<Connector, std::string> connector_units_;       ///< as udunits reads them
  std::map<Connector, std::string> connector_unit_names_;  ///< as written
  std::vector<Component> components_;
  std::map<std::string, std::size_t> by_path_;
  std::map<std::string, std::vector<std::string>> elements_;  ///< names, by path of the system
  /// What stands for an element in connections: a reference to a signal dictionary has the path of
  /// the dictionary, which all references to it share.
  std::map<std::string, std::string> dictionaries_, references_;
  std::map<Connector, Edge> fed_by_;
  std::multimap<Connector, Connector> feeds_;
  std::vector<std::pair<std::string, Node>> networks_;  ///< annotations, by path of the system
  std::vector<std::string> notes_;
  std::vector<fs::path> read_files_;                           ///< but FMUs
  std::vector<std::pair<fs::path, fs::path>> unpacked_files_;  ///< folders, and of which archives
};

/// The description itself, or the one of this name in the archive.
fs::path SspReader::described_in(const fs::path& source, const std::string& description) {
  read_files_.push_back(source);
  if (source.extension() == ".ssd") return source;
  const fs::path folder = unpacked_archive(source);
  unpacked_files_.emplace_back(folder, source);
  read_files_.push_back(folder / description);
  return read_files_.back();
}

/// In an archive: behind that one's name.
std::string SspReader::name_of(const fs::path& file) const {
  for (const auto& [folder, archive] : unpacked_files_) {
    const fs::path inside = file.lexically_relative(folder);
    if (!inside.empty() && *inside.begin() != "..") return name_of(archive / inside);
  }
  return file.string();
}

void SspReader::list_files(Model& model) const {
  for (const fs::path& file : read_files_) model.files.push_back({"SSP file", file, name_of(file)});
  model.files.front().role = "model file";
  model.text = source_.ends_with(".ssd") ? read_files_.front() : read_files_[1];
}

Node SspReader::load(const fs::path& file, const std::string& name) {
  documents_.push_back(std::make_unique<pugi::xml_document>());
  load_xml(*documents_.back(), file, name);
  const Node root = documents_.back()->document_element();
  if (local_name(root) != "SystemStructureDescription")
    throw InputError(name + ": begins with <" + root.name() +
                     "> instead of <SystemStructureDescription>");
  const std::string version = text(root, "version");
  if (!version.starts_with("1.") && !version.starts_with("2."))
    throw InputError(name + ": SSP version " + in_quotes(version) +
                     " is not supported; 1.0 and 2.0 are");
  return root;
}

void SspReader::read_system(const Node& system, const std::string& path) {
  read_dictionaries(system, path);
  for (const Node element : child_named(system, "Elements").children()) {
    const std::string name = text(element, "name");
    if (element.type() != pugi::node_element) continue;
    if (name.empty()) fail("an element <" + std::string(local_name(element)) + "> has no name");
    elements_[path].push_back(name);
    read_element(element, path, joined_path(path, name));
  }
  read_connectors(system, path);
  read_connections(system, path);
  bind(system, path, {});
  for (const Node annotation : children_named(child_named(system, "Annotations"), "Annotation"))
    if (text(annotation, "type") == network_annotation)
      networks_.emplace_back(path, child_named(annotation, "Network"));
}

void SspReader::read_element(const Node& element, const std::string& path,
                             const std::string& inner) {
  const auto kind = local_name(element);
  if (kind == "Component")
    read_component(element, inner);
  else if (kind == "System")
    read_system(element, inner);
  else if (kind == "SignalDictionaryReference")
    refer_to_dictionary(element, path, inner);
  else
    fail("<" + std::string(kind) + "> " + in_quotes(inner) +
         " is not supported; components, systems and references to signal dictionaries are");
}

/// Entries are connectors of a place of their own, which signals enter once and leave as often as
/// they like.
void SspReader::read_dictionaries(const Node& system, const std::string& path) {
  for (const Node node :
       children_named(child_named(system, "SignalDictionaries"), "SignalDictionary")) {
    pugi::xml_document file;
    Node dictionary = child_named(node, "SignalDictionary");
    if (const std::string source = text(node, "source"); !source.empty()) {
      load_xml(file, sources_beside({}).file(node, source_),
               source_ + ": signal dictionary " + in_quotes(source));
      dictionary = file.document_element();
    }
    const std::string place = joined_path(path, "dictionary " + text(node, "name"));
    dictionaries_[joined_path(path, text(node, "name"))] = place;
    const SspUnits units(dictionary);
    for (const Node entry : children_named(dictionary, "DictionaryEntry"))
      for (const Node typed : entry.children()) {
        const std::string unit = units.text(text(typed, "unit"));
        if (!unit.empty()) connector_units_[{place, text(entry, "name")}] = unit;
      }
  }
}

/// The name is looked up in the system that holds the reference, then in those around it.
void SspReader::refer_to_dictionary(const Node& reference, const std::string& path,
                                    const std::string& inner) {
  const std::string name = text(reference, "dictionary");
  for (std::optional<std::string> system = path; system; system = around(*system)) {
    const auto found = dictionaries_.find(joined_path(*system, name));
    if (found != dictionaries_.end()) {
      references_[inner] = found->second;
      return;
    }
  }
  fail("the element " + in_quotes(inner) + " refers to the signal dictionary " + in_quotes(name) +
       ", which is neither in its system nor in those around it");
}

void SspReader::read_component(const Node& component, const std::string& path) {
  const std::string type = text(component, "type");
  const fs::path source = path_of(text(component, "source"));
  const bool package = type == "application/x-ssp-package" ||
                       type == "application/x-ssp-definition" || (type.empty() && is_ssp(source));
  if (!type.empty() && type != "application/x-fmu-sharedlibrary" && !package)
    fail("component " + in_quotes(path) + " is of type " + in_quotes(type) +
         "; FMUs (application/x-fmu-sharedlibrary) and SSP files (application/x-ssp-package, "
         "application/x-ssp-definition) are supported");
  read_connectors(component, path);
  if (package)
    read_package(component, path);
  else
    read_fmu(component, path);
}

void SspReader::read_fmu(const Node& component, const std::string& path) {
  const std::string implementation = text(component, "implementation");
  Component result;
  result.path = path;
  result.request.path = folder_ / path_of(text(component, "source"));
  result.request.location = source_;
  result.request.values = read_parameter_bindings(component, sources_beside(result.request.path),
                                                  source_ + ": component " + in_quotes(path));
  if (implementation == "CoSimulation")
    result.request.options.interface = FmuInterfaceChoice::co_simulation;
  if (implementation == "ModelExchange")
    result.request.options.interface = FmuInterfaceChoice::model_exchange;
  if (implementation == "ScheduledExecution")
    result.request.options.interface = FmuInterfaceChoice::scheduled_execution;
  for (const Node annotation : children_named(child_named(component, "Annotations"), "Annotation"))
    result.is_delay = result.is_delay || text(annotation, "type") == delay_annotation;
  if (!by_path_.emplace(path, components_.size()).second)
    fail("the element " + in_quotes(path) + " is there twice");
  components_.push_back(std::move(result));
}

/// A system that has a file of its own, which has units and files of its own.
void SspReader::read_package(const Node& component, const std::string& path) {
  std::string uri = text(component, "source"), description = "SystemStructure.ssd";
  if (const std::size_t hash = uri.find('#'); hash != std::string::npos) {
    description = path_of(uri.substr(hash + 1));
    uri.erase(hash);
  }
  const std::string what = source_ + ": component " + in_quotes(path) + " of type " +
                           in_quotes(text(component, "type")) + ": " + in_quotes(uri);
  fs::path file = folder_ / path_of(uri);
  std::error_code error;
  if (documents_.size() > most_files)
    throw InputError(what + ": more than " + std::to_string(most_files) +
                     " SSP files within each other");
  if (!fs::is_regular_file(file, error)) throw InputError(what + " is missing");
  const fs::path source = file;
  file = described_in(file, description);
  const fs::path outer_folder = std::exchange(folder_, file.parent_path());
  const SspUnits outer_units = std::exchange(units_, SspUnits(pugi::xml_node()));
  const Node root = load(file, what);
  units_ = SspUnits(root);
  read_system(child_named(root, "System"), path);
  folder_ = outer_folder;
  units_ = outer_units;
  bind(component, path, source);
}

void SspReader::read_connectors(const Node& element, const std::string& path) {
  for (const Node node : children_named(child_named(element, "Connectors"), "Connector")) {
    const Connector connector{path, text(node, "name")};
    connectors_.insert(connector);
    for (const Node typed : node.children()) {
      const std::string name = text(typed, "unit"), unit = units_.text(name);
      if (unit.empty()) continue;
      connector_units_[connector] = unit;
      connector_unit_names_[connector] = name;
    }
  }
}

Connector SspReader::end_of(const Node& connection, const char* element, const char* connector,
                            const std::string& path) const {
  const std::string name = text(connection, element);
  const std::string place = name.empty() ? path : joined_path(path, name);
  const auto reference = references_.find(place);
  return {reference == references_.end() ? place : reference->second, text(connection, connector)};
}

void SspReader::read_connections(const Node& system, const std::string& path) {
  for (const Node node : children_named(child_named(system, "Connections"), "Connection")) {
    const Connector from = end_of(node, "startElement", "startConnector", path);
    const Connector to = end_of(node, "endElement", "endConnector", path);
    const std::string where =
        source_ + ": connection " + from.path + "." + from.name + " -> " + to.path + "." + to.name;
    const bool converts = !node.attribute("suppressUnitConversion").as_bool();
    const Edge edge{from, read_transformation(node, where), converts, where};
    const auto [place, is_new] = fed_by_.emplace(to, edge);
    if (!is_new && place->second.says_the_same(edge)) {
      note(where + ": is written twice and counts once");
      continue;
    }
    if (!is_new) throw InputError(where + ": this connector is fed twice; keep one connection");
    feeds_.emplace(from, to);
  }
}

/// Values of a system name "element.parameter", or a connector of the system itself.
void SspReader::bind(const Node& element, const std::string& path, const fs::path& component) {
  const std::string where = source_ + ": system " + in_quotes(path);
  for (const FmuValue& value : read_parameter_bindings(element, sources_beside(component), where))
    if (!give(path, value))
      throw InputError(value.location + ": the parameter " + in_quotes(value.name) +
                       " belongs to no component; name it 'element.parameter'");
}

/// The system's own connectors come before those of its elements, whose names may have dots.
bool SspReader::give(const std::string& path, const FmuValue& value) {
  const Connector own{path, value.name};
  if (!connectors_.contains(own) && !feeds_.contains(own)) return give_element(path, value);
  pass_on(own, value, 0);
  return true;
}

bool SspReader::give_element(const std::string& path, const FmuValue& value) {
  const std::string* element = nullptr;
  for (const std::string& name : elements_[path])
    if (value.name.starts_with(name + ".") && (!element || name.size() > element->size()))
      element = &name;
  if (element == nullptr) return false;
  FmuValue inner = value;
  inner.name.erase(0, element->size() + 1);
  const std::string place = joined_path(path, *element);
  const auto component = by_path_.find(place);
  if (component == by_path_.end()) return give(place, inner);
  components_[component->second].request.values.push_back(std::move(inner));
  return true;
}

/// Along the connections that leave the connector, through systems, to the components.
void SspReader::pass_on(const Connector& connector, FmuValue value, std::size_t depth) {
  if (depth > fed_by_.size()) fail("the connections form a circle at " + in_quotes(connector.name));
  arrive(connector, value);
  const auto [first, last] = feeds_.equal_range(connector);
  if (first == last)
    notes_.push_back("the value of " + in_quotes(connector.name) + " of system " +
                     in_quotes(connector.path) + " leads nowhere: nothing is connected to it");
  for (auto link = first; link != last; ++link) {
    const Connector& to = link->second;
    const Edge& edge = fed_by_.at(to);
    FmuValue inner = value;
    inner.name = to.name;
    inner.transformation = edge.transformation;
    if (!edge.converts_units) inner.unit.clear();
    const auto component = by_path_.find(to.path);
    if (component == by_path_.end())
      pass_on(to, std::move(inner), depth + 1);
    else
      components_[component->second].request.values.push_back(std::move(inner));
  }
}

/// Into the connector's unit, then the transformation.
void SspReader::arrive(const Connector& connector, FmuValue& value) const {
  const std::string where = value.location + ": parameter " + in_quotes(value.name);
  const auto declared = connector_units_.find(connector);
  if (declared != connector_units_.end()) {
    const auto conversion = unit_conversion(value.unit, declared->second);
    const auto* found = std::get_if<UnitConversion>(&conversion);
    if (found == nullptr)
      throw InputError(where + ": is given in " + in_quotes(value.unit) +
                       ", but the connector is in " + in_quotes(declared->second));
    const LinearTransformation into{found->factor, found->offset};
    for (std::string& text : value.texts) text = into.applied(text, where);
    value.unit = declared->second;
  }
  for (std::string& text : value.texts) text = value.transformation.applied(text, where);
  value.transformation = {};
}

/// "drive/motor 1" -> drive_motor_1, made unique.
void SspReader::name_components() {
  std::set<std::string> taken;
  for (Component& component : components_) {
    std::string name = component.path;
    for (char& c : name)
      if (!is_name(std::string("x") + c)) c = '_';
    if (!is_name(name)) name = "_" + name;
    std::string unique = name;
    for (int k = 2; !taken.insert(unique).second; ++k) unique = name + "_" + std::to_string(k);
    component.request.subsystem = unique;
  }
}

/// The edges by which an input of a component is fed, from the output on; none where the way back
/// through the connectors of systems ends at one that nothing feeds.
std::vector<SspReader::Link> SspReader::links_to(const Connector& input) const {
  std::vector<Link> links;
  Connector to = input;
  for (auto found = fed_by_.find(to); found != fed_by_.end(); found = fed_by_.find(to)) {
    if (links.size() > fed_by_.size())
      throw InputError(fed_by_.at(input).where + ": the connections form a circle");
    links.insert(links.begin(), {&found->second, to});
    to = found->second.from;
    if (by_path_.contains(to.path)) return links;
  }
  return {};
}

/// What the structure says, or, of a component's connector, the FMU. Differences have no offset.
std::string SspReader::unit_at(const Connector& connector, const Model& model) {
  const auto declared = connector_units_.find(connector);
  const std::string own = declared == connector_units_.end() ? "" : declared->second;
  const auto component = by_path_.find(connector.path);
  if (component == by_path_.end()) return own;
  const SubsystemEntry& entry = model.subsystems[component->second];
  const SubsystemDescription& fmu = entry.description;
  std::string inside;
  const std::string first_input = elements_of(fmu.inputs, connector.name).front();
  const std::string first_output = elements_of(fmu.outputs, connector.name).front();
  for (const InputVariable& input : fmu.inputs)
    if (input.name == first_input) inside = input.unit;
  for (const OutputVariable& output : fmu.outputs)
    if (output.name == first_output) inside = output.unit;
  if (own.empty() || inside.empty()) return own.empty() ? inside : own;
  const auto conversion = unit_conversion(inside, own);
  const auto* same = std::get_if<UnitConversion>(&conversion);
  const bool relative = is_relative(entry, connector.name);
  if (same != nullptr && same->factor == 1.0 && (same->offset == 0.0 || relative))
    return relative ? inside : own;
  // A unit of one name is one unit, however the structure defines it.
  const auto name = connector_unit_names_.find(connector);
  if (name == connector_unit_names_.end() || name->second != unit_name_in(entry, connector.name))
    fail("the connector " + connector.path + "." + connector.name + " is in " + in_quotes(own) +
         ", but the variable of the FMU is in " + in_quotes(inside));
  note(source_ + ": the unit " + in_quotes(name->second) + " of the connector " + connector.path +
       "." + connector.name + " is defined as " + in_quotes(own) +
       "; what the FMU says of it counts, " + in_quotes(inside));
  return inside;
}

/// Through all links, where some connector in the structure has a unit; else the network converts.
void SspReader::convert(const std::vector<Link>& links, const Model& model,
                        ConnectionEntry& entry) {
  const bool declared = std::any_of(links.begin(), links.end(), [&](const Link& link) {
    return connector_units_.contains(link.to) || connector_units_.contains(link.edge->from);
  });
  std::string unit = declared ? unit_at(links.front().edge->from, model) : "";
  for (const auto& [edge, to] : links) {
    const std::string next = declared ? unit_at(to, model) : "";
    if (edge->converts_units && !unit.empty() && !next.empty()) {
      const auto conversion = unit_conversion(unit, next);
      const auto* found = std::get_if<UnitConversion>(&conversion);
      if (found == nullptr)
        throw InputError(edge->where + ": the units don't match: " + in_quotes(unit) + " and " +
                         in_quotes(next));
      entry.factor *= found->factor;
      entry.offset = found->factor * entry.offset + found->offset;
    }
    if (!next.empty()) unit = next;
    entry.factor *= edge->transformation.factor;
    entry.offset = edge->transformation.factor * entry.offset + edge->transformation.offset;
    entry.converts_units = entry.converts_units && edge->converts_units && !declared;
  }
}

void SspReader::connect(Model& model) {
  for (const auto& [to, edge] : fed_by_) {
    const auto end = by_path_.find(to.path);
    if (end == by_path_.end()) continue;
    const std::vector<Link> links = links_to(to);
    if (links.empty()) continue;
    const Connector& from = links.front().edge->from;
    ConnectionEntry entry;
    entry.location = edge.where;
    convert(links, model, entry);
    const std::size_t source = by_path_.at(from.path);
    const auto outputs = elements_of(model.subsystems[source].description.outputs, from.name);
    const auto inputs = elements_of(model.subsystems[end->second].description.inputs, to.name);
    if (outputs.size() != inputs.size())
      throw InputError(edge.where + ": connects " + std::to_string(outputs.size()) +
                       " elements to " + std::to_string(inputs.size()));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      entry.from = components_[source].request.subsystem + "." + outputs[i];
      entry.to = components_[end->second].request.subsystem + "." + inputs[i];
      model.connections.push_back(entry);
    }
  }
}

/// "element.variable" by the subsystem's name.
std::string SspReader::name_in(const std::string& path, const std::string& name) const {
  for (std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0;
       dot = name.rfind('.', dot - 1)) {
    const auto component = by_path_.find(joined_path(path, name.substr(0, dot)));
    if (component != by_path_.end())
      return components_[component->second].request.subsystem + name.substr(dot);
  }
  return name;
}

Model SspReader::read(const ModelChanges& changes) {
  const Node root = documents_.front()->document_element();
  read_system(child_named(root, "System"), "");
  if (components_.empty()) fail("has no component");
  name_components();
  Model model;
  model.name = text(root, "name");
  model.source = source_;
  read_experiment(root, model);
  std::vector<std::string> names;
  for (const Component& component : components_) names.push_back(component.request.subsystem);
  ChangesByOwner by_owner(changes);
  for (const Component& component : components_) {
    model.subsystems.push_back(fmu_entry(component.request, &by_owner));
    ModelFile& fmu = model.subsystems.back().type.own().file;
    fmu.name = name_of(fmu.path);
  }
  list_files(model);
  by_owner.refuse_others(names);
  connect(model);
  for (const auto& [path, network] : networks_)
    read_network_annotation(
        network, [&, &system = path](const std::string& name) { return name_in(system, name); },
        source_ + ": annotation concord.network", model);
  for (const Component& component : components_)
    if (component.is_delay) put_delay_into_connections(component.request.subsystem, model);
  model.notes.insert(model.notes.end(), notes_.begin(), notes_.end());
  return model;
}

}  // namespace

bool is_ssp(const fs::path& path) {
  return path.extension() == ".ssp" || path.extension() == ".ssd";
}

Model read_ssp(const fs::path& path, const ModelChanges& changes) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    throw InputError(path.string() +
                     ": there is no such file; give an SSP archive (.ssp) or a "
                     "system structure description (.ssd)");
  return SspReader(path).read(changes);
}

}  // namespace concord
