#include "modelfile/ssp/ssp_parameters.hpp"

#include <map>
#include <memory>
#include <utility>

#include "concord/errors.hpp"
#include "files/archive.hpp"
#include "files/text_file.hpp"
#include "files/uri.hpp"
#include "files/xml_document.hpp"
#include "modelfile/ssp/ssp_units.hpp"
#include "modelfile/ssp/ssp_xml.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Node = pugi::xml_node;
using Document = std::unique_ptr<pugi::xml_document>;

double number(const Node& node, const char* attribute, double fallback, const std::string& where) {
  if (!node.attribute(attribute)) return fallback;
  const auto value = parse_number(text(node, attribute));
  if (!value)
    throw InputError(where + ": the attribute " + attribute + " must be a number, not " +
                     in_quotes(text(node, attribute)));
  return *value;
}

/// The element `name` in the file that `source` names, or inline below `holder`.
Node content(const Node& binding, const char* holder, const char* name, Document& document,
             const SspSources& sources, const std::string& where) {
  if (text(binding, "source").empty()) return child_named(child_named(binding, holder), name);
  document = std::make_unique<pugi::xml_document>();
  load_xml(*document, sources.file(binding, where),
           where + ": " + in_quotes(text(binding, "source")));
  return document->document_element();
}

/// The <Enumerations> of a parameter set.
class Enumerations {
 public:
  explicit Enumerations(const Node& set) {
    for (const Node type : children_named(child_named(set, "Enumerations"), "Enumeration"))
      for (const Node item : children_named(type, "Item"))
        values_.emplace(std::pair(text(type, "name"), text(item, "name")), text(item, "value"));
  }

  /// The value of an item; the text itself, which the FMU may know, where nothing defines it.
  std::string value(const std::string& type, const std::string& item) const {
    const auto found = values_.find({type, item});
    return found == values_.end() ? item : found->second;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::string> values_;
};

/// A parameter of a set, with the enumeration that its text is an item of.
struct SspParameter {
  FmuValue value;
  std::string enumeration;
};

SspParameter read_parameter(const Node& parameter, const SspUnits& units,
                            const std::string& where) {
  SspParameter result;
  FmuValue& value = result.value;
  value.name = text(parameter, "name");
  value.location = where;
  for (const Node typed : parameter.children()) {
    const auto type = local_name(typed);
    if (type == "Dimension" || type == "Annotations") continue;
    value.unit = units.text(text(typed, "unit"));
    if (type == "Enumeration") result.enumeration = text(typed, "name");
    if (!typed.attribute("value")) continue;
    const std::string written = text(typed, "value");
    if (!child_named(parameter, "Dimension") || type == "String")
      value.texts = {written};
    else
      value.texts = words(written);
  }
  if (value.texts.empty())
    throw InputError(where + ": parameter " + in_quotes(value.name) + " has no value");
  return result;
}

/// true and 1 are the same.
std::string plain(const std::string& value) {
  return value == "true" ? "1" : value == "false" ? "0" : value;
}

/// A <BooleanMappingTransformation>, <IntegerMappingTransformation> or
/// <EnumerationMappingTransformation>.
std::string looked_up(const std::string& value, const Node& map, const std::string& where) {
  for (const Node entry : children_named(map, "MapEntry"))
    if (plain(text(entry, "source")) == plain(value)) return text(entry, "target");
  throw InputError(where + ": the <" + std::string(local_name(map)) + "> has no entry for " +
                   in_quotes(value));
}

double number_of_entry(const Node& entry, const char* end, const std::string& where) {
  const auto value = parse_number(plain(text(entry, end)));
  if (!value)
    throw InputError(where + ": a <MapEntry> has the " + end + " " + in_quotes(text(entry, end)) +
                     ", which is neither a number nor true or false");
  return *value;
}

/// The line on which all entries of a map lie, as those of Booleans always do.
LinearTransformation line_through(const Node& map, const std::string& where) {
  const std::vector<Node> entries = children_named(map, "MapEntry");
  if (entries.empty())
    throw InputError(where + ": the <" + std::string(local_name(map)) + "> has no <MapEntry>");
  const double first = number_of_entry(entries.front(), "source", where);
  LinearTransformation line{0.0, number_of_entry(entries.front(), "target", where)};
  for (const Node entry : entries) {
    const double source = number_of_entry(entry, "source", where);
    const double target = number_of_entry(entry, "target", where);
    if (line.factor == 0.0 && source != first) {
      line.factor = (target - line.offset) / (source - first);
      line.offset -= line.factor * first;
    }
    if (line.factor * source + line.offset != target)
      throw InputError(where + ": the entries of the <" + std::string(local_name(map)) +
                       "> don't lie on one line, as they must where signals flow; let a component "
                       "between them map the values");
  }
  return line;
}

Node map_below(const Node& entry) {
  for (const Node child : entry.children())
    if (local_name(child).ends_with("MappingTransformation")) return child;
  return {};
}

SspParameter transformed(SspParameter parameter, const Node& entry, const std::string& where) {
  FmuValue& value = parameter.value;
  const std::string place = where + ": parameter " + in_quotes(value.name);
  value.name = text(entry, "target");
  if (entry.attribute("suppressUnitConversion").as_bool()) value.unit.clear();
  const Node map = map_below(entry);
  if (!map) {
    value.transformation = read_transformation(entry, where);
    return parameter;
  }
  for (std::string& item : value.texts) item = looked_up(item, map, place);
  if (local_name(map) == "EnumerationMappingTransformation") parameter.enumeration.clear();
  return parameter;
}

/// With a mapping, what it names; without, everything.
std::vector<SspParameter> mapped(const std::vector<SspParameter>& parameters, const Node& mapping,
                                 const std::string& where) {
  if (!mapping) return parameters;
  std::vector<SspParameter> result;
  for (const Node entry : children_named(mapping, "MappingEntry"))
    for (const SspParameter& parameter : parameters)
      if (parameter.value.name == text(entry, "source"))
        result.push_back(transformed(parameter, entry, where));
  return result;
}

/// Names get the prefix before they are mapped (SSP 1.0, 5.3.5).
std::vector<FmuValue> read_binding(const Node& binding, const SspSources& sources,
                                   const std::string& where) {
  Document file, mapping_file;
  const Node set = content(binding, "ParameterValues", "ParameterSet", file, sources, where);
  const SspUnits units(set);
  const Enumerations enumerations(set);
  std::vector<SspParameter> parameters;
  for (const Node node : children_named(child_named(set, "Parameters"), "Parameter")) {
    parameters.push_back(read_parameter(node, units, where));
    parameters.back().value.name.insert(0, text(binding, "prefix"));
  }
  const Node holder = child_named(binding, "ParameterMapping");
  const Node mapping = text(holder, "source").empty()
                           ? child_named(holder, "ParameterMapping")
                           : content(holder, "", "", mapping_file, sources, where);
  std::vector<FmuValue> values;
  for (SspParameter& parameter : mapped(parameters, mapping, where)) {
    for (std::string& item : parameter.value.texts)
      item = enumerations.value(parameter.enumeration, item);
    values.push_back(std::move(parameter.value));
  }
  return values;
}

}  // namespace

std::filesystem::path SspSources::noted(std::filesystem::path file) const {
  if (read != nullptr) read->push_back(file);
  return file;
}

/// In a component that is an archive the file itself; else beside the component (RFC 3986).
std::filesystem::path SspSources::file(const Node& node, const std::string& where) const {
  const std::string uri = text(node, "source");
  const std::size_t colon = uri.find(':');
  if (colon != std::string::npos && colon < uri.find('/'))
    throw InputError(where + ": " + in_quotes(uri) +
                     " is not a path; only files beside the description can be read");
  const std::filesystem::path path = path_of(uri);
  if (text(node, "sourceBase") != "component") return noted(folder / path);
  if (component.empty())
    throw InputError(where + ": " + in_quotes(uri) +
                     " has the source base 'component', which a system has not; use SSD");
  if (!std::filesystem::is_regular_file(component)) return noted(component / path);
  const auto inside = path.lexically_normal();
  if (*inside.begin() != "..") {
    const auto file = unpacked_archive(component) / inside.relative_path();
    if (std::filesystem::is_regular_file(file)) return file;
  }
  return noted(component.parent_path() / path);
}

LinearTransformation read_transformation(const pugi::xml_node& node, const std::string& where) {
  LinearTransformation result;
  for (const Node child : node.children()) {
    const auto name = local_name(child);
    if (name == "LinearTransformation")
      result = {number(child, "factor", 1.0, where), number(child, "offset", 0.0, where)};
    else if (name == "BooleanMappingTransformation" || name == "IntegerMappingTransformation")
      result = line_through(child, where);
    else if (name.ends_with("Transformation"))
      throw InputError(where + ": <" + std::string(name) +
                       "> is not supported where signals flow; let a component between them map "
                       "the values");
  }
  return result;
}

std::vector<FmuValue> read_parameter_set(const std::filesystem::path& path) {
  pugi::xml_document document;
  load_xml(document, path, path.string());
  const Node set = document.document_element();
  const std::string content = read_text_file(path, "a parameter set (.ssv)");
  const auto place = [&](const Node& node) {
    return path.string() + ":" +
           std::to_string(line_at(content, static_cast<std::size_t>(node.offset_debug())));
  };
  if (local_name(set) != "ParameterSet")
    throw InputError(place(set) + ": found <" + set.name() + "> where a <ParameterSet> must be");
  const SspUnits units(set);
  const Enumerations enumerations(set);
  std::vector<FmuValue> values;
  for (const Node node : children_named(child_named(set, "Parameters"), "Parameter")) {
    SspParameter parameter = read_parameter(node, units, place(node));
    for (std::string& item : parameter.value.texts)
      item = enumerations.value(parameter.enumeration, item);
    values.push_back(std::move(parameter.value));
  }
  return values;
}

std::vector<FmuValue> read_parameter_bindings(const pugi::xml_node& element,
                                              const SspSources& sources, const std::string& where) {
  std::vector<FmuValue> result;
  for (const Node binding :
       children_named(child_named(element, "ParameterBindings"), "ParameterBinding"))
    for (FmuValue& value : read_binding(binding, sources, where))
      result.push_back(std::move(value));
  return result;
}

}  // namespace concord
