#include "modelfile/yaml/constants.hpp"

#include <algorithm>
#include <set>

#include "concord/errors.hpp"
#include "expression/expression_scan.hpp"
#include "expression/functions.hpp"
#include "expression/user_functions.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// Whether the entry's expression, or a function that it calls, names one of these.
bool waits_for(const Field& entry, const std::set<std::string>& open,
               const UserFunctions* functions) {
  const NodeReader& value = entry.value;
  if (value.is_null() || value.is_list() || value.is_map()) {
    return false;
  }
  const auto uses = names_used(value.text());
  const auto is_open = [&](const std::string& name) { return open.contains(name); };
  return std::any_of(uses.begin(), uses.end(), [&](const NameUse& use) {
    const UserFunction* const called = use.called ? find_own(functions, use.name) : nullptr;
    return called != nullptr ? std::ranges::any_of(called->parameters, is_open) : is_open(use.name);
  });
}

}  // namespace

Constants resolved(const std::vector<Field>& entries, const Constants& known) {
  Constants result = known;
  std::set<std::string> open;
  std::vector<const Field*> waiting;
  for (const Field& entry : entries) {
    result.values.erase(entry.key);
    open.insert(entry.key);
    waiting.push_back(&entry);
  }
  while (!waiting.empty()) {
    std::vector<const Field*> still;
    for (const Field* entry : waiting) {
      if (waits_for(*entry, open, known.functions.get())) {
        still.push_back(entry);
        continue;
      }
      result.values[entry->key] = entry->value.number(result);
      open.erase(entry->key);
    }
    if (still.size() == waiting.size()) {
      std::vector<std::string> names(open.begin(), open.end());
      still.front()->value.fail("needs itself, by way of " + joined(names) +
                                "; give one of these a number");
    }
    waiting = std::move(still);
  }
  return result;
}

void refuse_taken_name(const Field& field) {
  if (is_reserved_in_expressions(field.key) || means_time(field.key)) {
    throw InputError(field.key_location + ": " + field.value.what() +
                     " clashes with what expressions call so; choose another name");
  }
}

std::vector<Field> merged(std::vector<Field> base, const std::vector<Field>& over) {
  for (const Field& field : over) {
    const auto found = std::find_if(base.begin(), base.end(),
                                    [&](const Field& other) { return other.key == field.key; });
    if (found == base.end()) {
      base.push_back(field);
    } else {
      *found = field;
    }
  }
  return base;
}

std::vector<Field> ChangedFields::of(const ModelChanges& changes, const std::string& owner) {
  std::vector<Field> result;
  for (const ModelChange& change : changes) {
    std::vector<const YamlNode*> items;
    for (const std::string& item : change.items) {
      nodes_.push_back({YamlNode::Kind::scalar, 0, item, false, false, {}});
      items.push_back(&nodes_.back());
    }
    const auto kind = items.empty() ? YamlNode::Kind::scalar : YamlNode::Kind::sequence;
    nodes_.push_back({kind, 0, change.text, false, false, std::move(items)});
    locations_.push_back(change.location);
    result.push_back(
        {change.name, change.location,
         NodeReader(locations_.back(), nodes_.back(), in_quotes(change.name) + " of " + owner)});
  }
  return result;
}

}  // namespace concord
