#include "modelfile/yaml/constants.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "concord/errors.hpp"
#include "expression/expression_scan.hpp"
#include "expression/functions.hpp"
#include "expression/user_functions.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// What the entry's expression names, or a function that it calls.
std::set<std::string> names_in(const Field& entry, const UserFunctions* functions) {
  const NodeReader& value = entry.value;
  if (value.is_null() || value.is_list() || value.is_map()) {
    return {};
  }
  std::set<std::string> names;
  for (const NameUse& use : names_used(value.text())) {
    const UserFunction* const called = use.called ? find_own(functions, use.name) : nullptr;
    if (called != nullptr) {
      names.insert(called->parameters.begin(), called->parameters.end());
    } else {
      names.insert(use.name);
    }
  }
  return names;
}

[[noreturn]] void refuse_circle(const std::vector<Field>& entries,
                                const std::vector<std::size_t>& lacks) {
  std::set<std::string> names;
  const NodeReader* first = nullptr;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (lacks[i] == 0) continue;
    if (first == nullptr) first = &entries[i].value;
    names.insert(entries[i].key);
  }
  first->fail("needs itself, by way of " +
              joined(std::vector<std::string>(names.begin(), names.end())) +
              "; give one of these a number");
}

}  // namespace

Constants resolved(const std::vector<Field>& entries, const Constants& known) {
  Constants result = known;
  std::map<std::string, std::vector<std::size_t>> waiting_for;  // entries, by what they name
  for (const Field& entry : entries) {
    result.values.erase(entry.key);
    waiting_for.emplace(entry.key, std::vector<std::size_t>{});
  }
  std::vector<std::size_t> lacks(entries.size(), 0), ready;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (const std::string& name : names_in(entries[i], known.functions.get())) {
      const auto open = waiting_for.find(name);
      if (open == waiting_for.end()) continue;
      open->second.push_back(i);
      ++lacks[i];
    }
    if (lacks[i] == 0) ready.push_back(i);
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const Field& entry = entries[ready[next]];
    result.values[entry.key] = entry.value.number(result);
    for (const std::size_t other : waiting_for.at(entry.key))
      if (--lacks[other] == 0) ready.push_back(other);
  }
  if (ready.size() < entries.size()) refuse_circle(entries, lacks);
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

/// A list of the items, if there are any.
NodeReader ChangedFields::made(const std::string& text, const std::vector<std::string>& items,
                               const std::string& location, const std::string& what) {
  std::vector<const YamlNode*> children;
  for (const std::string& item : items) {
    nodes_.push_back({YamlNode::Kind::scalar, 0, item, false, false, {}});
    children.push_back(&nodes_.back());
  }
  const auto kind = items.empty() ? YamlNode::Kind::scalar : YamlNode::Kind::sequence;
  nodes_.push_back({kind, 0, text, false, false, std::move(children)});
  locations_.push_back(location);
  return {locations_.back(), nodes_.back(), what};
}

std::vector<Field> ChangedFields::of(const ModelChanges& changes, const std::string& owner) {
  std::vector<Field> result;
  for (const ModelChange& change : changes) {
    result.push_back({change.name, change.location,
                      made(change.text, change.items, change.location,
                           in_quotes(change.name) + " of " + owner)});
  }
  return result;
}

Field ChangedFields::in_unit(const Field& field, const std::string& unit) {
  const NodeReader& value = field.value;
  std::vector<NodeReader> parts = {value};
  if (value.is_list()) parts = value.items(value.what());
  std::vector<std::string> texts;
  bool any = false;
  for (const NodeReader& part : parts) {
    if (part.is_null() || part.is_list() || part.is_map()) return field;
    const auto number = part.quantity(unit);
    any = any || number;
    texts.push_back(number ? exact_number(*number) : part.text());
  }
  if (!any) return field;
  const std::string first = texts.front();
  if (!value.is_list()) texts.clear();
  return {field.key, field.key_location, made(first, texts, value.location(), value.what())};
}

}  // namespace concord
