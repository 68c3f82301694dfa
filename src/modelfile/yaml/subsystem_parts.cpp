#include "modelfile/yaml/subsystem_parts.hpp"

#include "concord/errors.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {

std::vector<std::string> keys_of(std::initializer_list<const std::vector<Field>*> lists) {
  std::vector<std::string> keys;
  for (const std::vector<Field>* list : lists) {
    for (const Field& entry : *list) {
      keys.push_back(entry.key);
    }
  }
  return keys;
}

void convert(ModelChange& change, const std::string& unit) {
  if (change.unit.empty() || unit.empty() || change.unit == unit) {
    return;
  }
  const auto number = parse_number(change.text);
  const auto value = number ? converted(*number, change.unit, unit) : std::nullopt;
  if (!value) {
    throw InputError(change.location + ": " + in_quotes(change.name) + " is given in " +
                     in_quotes(change.unit) + ", but the model has it in " + in_quotes(unit) +
                     ", and there is no way from one to the other");
  }
  change.text = exact_number(*value);
}

}  // namespace concord
