#include "modelfile/yaml/fmu_reader.hpp"

#include <algorithm>

#include "expression/expression_scan.hpp"
#include "expression/functions.hpp"
#include "modelfile/fmu/fmu_entry.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// A parameter of the model by its name, or an expression in parentheses or with an operation: as a
/// number. Anything else is the FMU's to read (texts, Booleans, items of enumerations).
std::string value_text(const NodeReader& node, const Constants& constants) {
  const std::string text = node.text();
  if (node.is_quoted() || parse_number(text)) return text;
  const auto uses = names_used(text);
  const bool known = !uses.empty() && std::all_of(uses.begin(), uses.end(), [&](const auto& use) {
    return constants.contains(use.name) || is_reserved_in_expressions(use.name);
  });
  return known ? exact_number(node.number(constants)) : text;
}

std::vector<FmuValue> read_values(const std::vector<Field>& fields, const Constants& constants) {
  std::vector<FmuValue> result;
  for (const auto& [name, location, value] : fields) {
    FmuValue entry{name, {}, "", location};
    if (value.is_list())
      for (const NodeReader& item : value.items(value.what()))
        entry.texts.push_back(value_text(item, constants));
    else
      entry.texts.push_back(value_text(value, constants));
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace

SubsystemEntry fmu_entry(const std::string& name, const NodeReader& file,
                         const std::vector<Field>& parameters, const std::vector<Field>& start,
                         const ModelChanges& changes, const FmuSurroundings& around) {
  FmuRequest request;
  request.subsystem = name;
  request.path = around.folder / file.text();
  request.location = file.location();
  request.parameters = read_values(parameters, around.constants);
  request.start = read_values(start, around.constants);
  return fmu_entry(std::move(request), changes);
}

}  // namespace concord
