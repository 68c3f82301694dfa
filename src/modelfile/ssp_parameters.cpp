#include "modelfile/ssp_parameters.hpp"

#include <map>
#include <memory>
#include <utility>

#include "concord/errors.hpp"
#include "modelfile/ssp_units.hpp"
#include "modelfile/ssp_xml.hpp"
#include "subsystem/fmu/xml_document.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Node = pugi::xml_node;
using Document = std::unique_ptr<pugi::xml_document>;

std::string text(const Node& node, const char* attribute) {
  return node.attribute(attribute).as_string();
}

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
             const std::filesystem::path& folder, const std::string& where) {
  const std::string source = text(binding, "source");
  if (source.empty()) return child_named(child_named(binding, holder), name);
  document = std::make_unique<pugi::xml_document>();
  load_xml(*document, folder / source, where + ": " + in_quotes(source));
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

FmuValue read_parameter(const Node& parameter, const SspUnits& units,
                        const Enumerations& enumerations, const std::string& where) {
  FmuValue value;
  value.name = text(parameter, "name");
  value.location = where;
  for (const Node typed : parameter.children()) {
    const auto type = local_name(typed);
    if (type == "Dimension" || type == "Annotations") continue;
    if (type == "Binary")
      throw InputError(where + ": parameter " + in_quotes(value.name) +
                       " is of type Binary, which is not supported");
    value.unit = units.text(text(typed, "unit"));
    if (!typed.attribute("value")) continue;
    const std::string written = text(typed, "value");
    if (type == "Enumeration")
      value.texts = {enumerations.value(text(typed, "name"), written)};
    else if (!child_named(parameter, "Dimension") || type == "String")
      value.texts = {written};
    else
      value.texts = words(written);
  }
  if (value.texts.empty())
    throw InputError(where + ": parameter " + in_quotes(value.name) + " has no value");
  return value;
}

std::string transformed(const std::string& value, const LinearTransformation& by,
                        const std::string& where) {
  if (by.factor == 1.0 && by.offset == 0.0) return value;
  const auto number_value = parse_number(value);
  if (!number_value)
    throw InputError(where + ": " + in_quotes(value) + " cannot be transformed linearly");
  return exact_number(by.factor * *number_value + by.offset);
}

/// With a mapping, what it names; without, everything.
std::vector<FmuValue> mapped(const std::vector<FmuValue>& values, const Node& mapping,
                             const std::string& where) {
  if (!mapping) return values;
  std::vector<FmuValue> result;
  for (const Node entry : children_named(mapping, "MappingEntry")) {
    const LinearTransformation transformation = read_transformation(entry, where);
    for (const FmuValue& value : values) {
      if (value.name != text(entry, "source")) continue;
      FmuValue target = value;
      target.name = text(entry, "target");
      for (std::string& item : target.texts) item = transformed(item, transformation, where);
      result.push_back(std::move(target));
    }
  }
  return result;
}

std::vector<FmuValue> read_binding(const Node& binding, const std::filesystem::path& folder,
                                   const std::string& where) {
  Document file, mapping_file;
  const Node set = content(binding, "ParameterValues", "ParameterSet", file, folder, where);
  const SspUnits units(set);
  const Enumerations enumerations(set);
  std::vector<FmuValue> values;
  for (const Node parameter : children_named(child_named(set, "Parameters"), "Parameter"))
    values.push_back(read_parameter(parameter, units, enumerations, where));
  const Node holder = child_named(binding, "ParameterMapping");
  const Node mapping = text(holder, "source").empty()
                           ? child_named(holder, "ParameterMapping")
                           : content(holder, "", "", mapping_file, folder, where);
  values = mapped(values, mapping, where);
  for (FmuValue& value : values) value.name = text(binding, "prefix") + value.name;
  return values;
}

}  // namespace

LinearTransformation read_transformation(const pugi::xml_node& node, const std::string& where) {
  LinearTransformation result;
  for (const Node child : node.children()) {
    const auto name = local_name(child);
    if (name == "LinearTransformation")
      result = {number(child, "factor", 1.0, where), number(child, "offset", 0.0, where)};
    else if (name.ends_with("Transformation"))
      throw InputError(where + ": <" + std::string(name) +
                       "> is not supported; only linear ones "
                       "are");
  }
  return result;
}

std::vector<FmuValue> read_parameter_bindings(const pugi::xml_node& element,
                                              const std::filesystem::path& folder,
                                              const std::string& where) {
  std::vector<FmuValue> result;
  for (const Node binding :
       children_named(child_named(element, "ParameterBindings"), "ParameterBinding"))
    for (FmuValue& value : read_binding(binding, folder, where)) result.push_back(std::move(value));
  return result;
}

}  // namespace concord
