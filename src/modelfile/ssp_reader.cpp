#include "modelfile/ssp_reader.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "modelfile/fmu_reader.hpp"
#include "modelfile/ssp_parameters.hpp"
#include "modelfile/ssp_units.hpp"
#include "modelfile/ssp_uri.hpp"
#include "modelfile/ssp_xml.hpp"
#include "network/units.hpp"
#include "subsystem/fmu/archive.hpp"
#include "subsystem/fmu/scratch_folder.hpp"
#include "subsystem/fmu/xml_document.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;
using Node = pugi::xml_node;

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
};

struct Component {
  std::string path;
  FmuRequest request;
};

std::string text(const Node& node, const char* attribute) {
  return node.attribute(attribute).as_string();
}

std::string joined_path(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "/" + name;
}

class SspReader {
 public:
  SspReader(const fs::path& file, std::string source)
      : folder_(file.parent_path()), source_(std::move(source)) {
    load_xml(document_, file, source_);
    units_ = SspUnits(document_.document_element());
  }

  Model read();

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(source_ + ": " + problem);
  }
  void read_system(const Node& system, const std::string& path);
  void read_component(const Node& component, const std::string& path);
  void read_connectors(const Node& element, const std::string& path);
  void read_connections(const Node& system, const std::string& path);
  void bind(const Node& system, const std::string& path);
  void give(const std::string& path, const FmuValue& value);
  Component* component_at(const std::string& path);
  void name_components();
  /// A connection and the connector at its end.
  struct Link {
    const Edge* edge;
    Connector to;
  };
  std::vector<Link> links_to(const Connector& input) const;
  std::string unit_at(const Connector& connector, const Model& model) const;
  void convert(const std::vector<Link>& links, const Model& model, ConnectionEntry& entry) const;
  void connect(Model& model) const;
  void read_experiment(Model& model) const;

  fs::path folder_;
  std::string source_;
  pugi::xml_document document_;
  SspUnits units_{pugi::xml_node()};
  std::map<Connector, std::string> connector_units_;  ///< as udunits reads them
  std::vector<Component> components_;
  std::map<std::string, std::size_t> by_path_;
  std::map<Connector, Edge> fed_by_;
};

void SspReader::read_system(const Node& system, const std::string& path) {
  for (const Node element : child_named(system, "Elements").children()) {
    const auto kind = local_name(element);
    const std::string name = text(element, "name");
    if (element.type() != pugi::node_element) continue;
    if (name.empty()) fail("an element <" + std::string(kind) + "> has no name");
    const std::string inner = joined_path(path, name);
    if (kind == "Component")
      read_component(element, inner);
    else if (kind == "System")
      read_system(element, inner);
    else
      fail("<" + std::string(kind) + "> " + in_quotes(name) +
           " is not supported; components that "
           "are FMUs and systems are");
  }
  if (child_named(system, "SignalDictionaries"))
    fail("signal dictionaries are not supported; connect the components directly");
  read_connectors(system, path);
  read_connections(system, path);
  bind(system, path);
}

void SspReader::read_component(const Node& component, const std::string& path) {
  const std::string type = text(component, "type");
  const std::string implementation = text(component, "implementation");
  if (!type.empty() && type != "application/x-fmu-sharedlibrary")
    fail("component " + in_quotes(path) + " is of type " + in_quotes(type) +
         "; only FMUs (application/x-fmu-sharedlibrary) are supported");
  if (implementation == "ScheduledExecution")
    fail("component " + in_quotes(path) + ": scheduled execution is not supported");
  read_connectors(component, path);
  Component result;
  result.path = path;
  result.request.path = folder_ / path_of(text(component, "source"));
  result.request.location = source_;
  result.request.values =
      read_parameter_bindings(component, folder_, source_ + ": component " + in_quotes(path));
  if (implementation == "CoSimulation")
    result.request.options.interface = FmuInterfaceChoice::co_simulation;
  if (implementation == "ModelExchange")
    result.request.options.interface = FmuInterfaceChoice::model_exchange;
  if (!by_path_.emplace(path, components_.size()).second)
    fail("the element " + in_quotes(path) + " is there twice");
  components_.push_back(std::move(result));
}

void SspReader::read_connectors(const Node& element, const std::string& path) {
  for (const Node node : children_named(child_named(element, "Connectors"), "Connector"))
    for (const Node typed : node.children()) {
      const std::string unit = units_.text(text(typed, "unit"));
      if (!unit.empty()) connector_units_[{path, text(node, "name")}] = unit;
    }
}

void SspReader::read_connections(const Node& system, const std::string& path) {
  for (const Node node : children_named(child_named(system, "Connections"), "Connection")) {
    const auto end = [&](const char* element, const char* connector) {
      const std::string name = text(node, element);
      return Connector{name.empty() ? path : joined_path(path, name), text(node, connector)};
    };
    const Connector from = end("startElement", "startConnector");
    const Connector to = end("endElement", "endConnector");
    const std::string where =
        source_ + ": connection " + from.path + "." + from.name + " -> " + to.path + "." + to.name;
    const bool converts = !node.attribute("suppressUnitConversion").as_bool();
    const Edge edge{from, read_transformation(node, where), converts, where};
    const auto [place, is_new] = fed_by_.emplace(to, edge);
    if (!is_new) throw InputError(where + ": this connector is fed twice; keep one connection");
  }
}

/// Values of a system name "element.parameter", or a connector of the system itself.
void SspReader::bind(const Node& system, const std::string& path) {
  const std::string where = source_ + ": system " + in_quotes(path);
  for (const FmuValue& value : read_parameter_bindings(system, folder_, where)) give(path, value);
}

Component* SspReader::component_at(const std::string& path) {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : &components_[found->second];
}

void SspReader::give(const std::string& path, const FmuValue& value) {
  std::size_t dot = value.name.find('.');
  for (; dot != std::string::npos; dot = value.name.find('.', dot + 1)) {
    std::string element = value.name.substr(0, dot);
    std::replace(element.begin(), element.end(), '.', '/');
    if (Component* component = component_at(joined_path(path, element))) {
      FmuValue inner = value;
      inner.name = value.name.substr(dot + 1);
      component->request.values.push_back(std::move(inner));
      return;
    }
  }
  bool forwarded = false;
  for (const auto& [to, edge] : fed_by_) {
    Component* component = component_at(to.path);
    if (edge.from != Connector{path, value.name} || component == nullptr) continue;
    FmuValue inner = value;
    inner.name = to.name;
    component->request.values.push_back(std::move(inner));
    forwarded = true;
  }
  if (!forwarded)
    throw InputError(value.location + ": the parameter " + in_quotes(value.name) +
                     " belongs to no component; name it 'element.parameter'");
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

/// What the structure says, or, of a component's connector, the FMU.
std::string SspReader::unit_at(const Connector& connector, const Model& model) const {
  const auto declared = connector_units_.find(connector);
  const std::string own = declared == connector_units_.end() ? "" : declared->second;
  const auto component = by_path_.find(connector.path);
  if (component == by_path_.end()) return own;
  const SubsystemDescription& fmu = model.subsystems[component->second].description;
  std::string inside;
  for (const InputVariable& input : fmu.inputs)
    if (input.name == connector.name) inside = input.unit;
  for (const OutputVariable& output : fmu.outputs)
    if (output.name == connector.name) inside = output.unit;
  if (own.empty() || inside.empty()) return own.empty() ? inside : own;
  const auto conversion = unit_conversion(inside, own);
  const auto* same = std::get_if<UnitConversion>(&conversion);
  if (same == nullptr || same->factor != 1.0 || same->offset != 0.0)
    fail("the connector " + connector.path + "." + connector.name + " is in " + in_quotes(own) +
         ", but the variable of the FMU is in " + in_quotes(inside));
  return own;
}

/// Through all links, where some connector in the structure has a unit; else the network converts.
void SspReader::convert(const std::vector<Link>& links, const Model& model,
                        ConnectionEntry& entry) const {
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

void SspReader::connect(Model& model) const {
  for (const auto& [to, edge] : fed_by_) {
    const auto end = by_path_.find(to.path);
    if (end == by_path_.end()) continue;
    const std::vector<Link> links = links_to(to);
    if (links.empty()) continue;
    const Connector& from = links.front().edge->from;
    ConnectionEntry entry;
    entry.location = edge.where;
    entry.from = components_[by_path_.at(from.path)].request.subsystem + "." + from.name;
    entry.to = components_[end->second].request.subsystem + "." + to.name;
    convert(links, model, entry);
    model.connections.push_back(std::move(entry));
  }
}

void SspReader::read_experiment(Model& model) const {
  const Node experiment = child_named(document_.document_element(), "DefaultExperiment");
  const auto time = [&](const char* attribute) -> std::optional<double> {
    if (!experiment.attribute(attribute)) return std::nullopt;
    const auto value = parse_number(text(experiment, attribute));
    if (!value) fail(std::string("the attribute ") + attribute + " must be a number");
    return value;
  };
  const auto stop = time("stopTime");
  if (!stop && !options::has("cosim_stop"))
    fail("there is no default experiment with a stop time; give -cosim_stop <seconds>");
  model.start = time("startTime").value_or(0.0);
  model.stop = stop.value_or(model.start + 1.0);
  model.start_location = model.stop_location = source_;
}

Model SspReader::read() {
  const Node root = document_.document_element();
  if (local_name(root) != "SystemStructureDescription")
    fail("begins with <" + std::string(root.name()) + "> instead of <SystemStructureDescription>");
  const std::string version = text(root, "version");
  if (!version.starts_with("1.") && !version.starts_with("2."))
    fail("SSP version " + in_quotes(version) + " is not supported; 1.0 and 2.0 are");
  read_system(child_named(root, "System"), "");
  if (components_.empty()) fail("has no component");
  name_components();
  Model model;
  model.name = text(root, "name");
  model.source = source_;
  read_experiment(model);
  for (const Component& component : components_)
    model.subsystems.push_back(fmu_entry(component.request));
  connect(model);
  resolve_aliases(model);
  return model;
}

}  // namespace

bool is_ssp(const fs::path& path) {
  return path.extension() == ".ssp" || path.extension() == ".ssd";
}

Model read_ssp(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    throw InputError(path.string() +
                     ": there is no such file; give an SSP archive (.ssp) or a "
                     "system structure description (.ssd)");
  const std::string source = path.string();
  if (path.extension() == ".ssd") return SspReader(path, source).read();
  const std::string key = fs::absolute(path).string() + "|" + std::to_string(fs::file_size(path)) +
                          "|" +
                          std::to_string(fs::last_write_time(path).time_since_epoch().count());
  const fs::path folder =
      shared_scratch_folder(key, [&](const fs::path& target) { unpack_archive(path, target); });
  Model model = SspReader(folder / "SystemStructure.ssd", source).read();
  return model;
}

}  // namespace concord
