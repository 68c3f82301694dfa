#include "modelfile/yaml/node_reader.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_set>

#include "concord/errors.hpp"
#include "expression/expression_list.hpp"
#include "expression/expression_scan.hpp"
#include "expression/user_functions.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"
#include "units/value_with_unit.hpp"

namespace concord {

namespace {

std::string line_location(const std::string& source, const YamlNode& node) {
  return node.line > 0 ? source + ":" + std::to_string(node.line) : source;
}

/// Whether there is more in the text than a number, well written or not.
bool looks_like_expression(std::string_view text) {
  const std::size_t begin = text.find_first_not_of("+- ");
  if (begin == std::string_view::npos) {
    return false;
  }
  const char first = text[begin];
  return first == '(' || is_name(text.substr(begin, 1)) ||
         text.find_first_of("+-*/^(<>?", begin + 1) != std::string_view::npos;
}

/// x of "der(x)" and "x'".
std::string state_in(const std::string& key) {
  const bool called = key.starts_with("der(") && key.ends_with(')');
  const std::string state = called                ? key.substr(4, key.size() - 5)
                            : key.ends_with('\'') ? key.substr(0, key.size() - 1)
                                                  : "";
  return is_name(state) ? state : "";
}

/// "5,5"
bool has_decimal_comma(std::string text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return false;
  text[comma] = '.';
  return parse_number(text).has_value();
}

/// "T" of "T[n]".
std::string name_before_bracket(const std::string& text) {
  return text.ends_with(']') ? text.substr(0, text.find('[')) : text;
}

/// Those that the text names itself or by its functions; all, for the message, where it names what
/// is none.
std::unordered_map<std::string, double> constants_in(const std::string& text,
                                                     const Constants& known) {
  std::unordered_map<std::string, double> result;
  bool complete = true;
  const auto take = [&](const std::string& name) {
    const auto found = known.values.find(name);
    if (found != known.values.end()) result.insert(*found);
    complete = complete && (found != known.values.end() || is_reserved_in_expressions(name));
  };
  for (const NameUse& use : names_used(text)) {
    const auto* called = use.called ? find_own(known.functions.get(), use.name) : nullptr;
    if (called != nullptr) {
      std::ranges::for_each(called->parameters, take);
    } else {
      take(use.name);
    }
  }
  return complete ? result : known.values;
}

}  // namespace

std::string NodeReader::location() const { return line_location(*source_, *node_); }

void NodeReader::fail(const std::string& message) const {
  throw InputError(location() + ": " + what_ + " " + message);
}

std::string NodeReader::found() const {
  switch (node_->kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::scalar:
      return in_quotes(node_->text);
    case YamlNode::Kind::sequence:
      return "a list";
    case YamlNode::Kind::map:
      return "a map";
  }
  return {};
}

std::optional<double> NodeReader::quantity(const std::string& unit) const {
  const auto given =
      node_->kind == YamlNode::Kind::scalar ? value_with_unit(node_->text) : std::nullopt;
  if (!given || !is_known_unit(given->unit)) return std::nullopt;
  const std::string found = "is given in " + in_quotes(given->unit) + ", but ";
  if (unit.empty()) fail(found + "has no unit; give the number alone");
  const auto value = converted(given->number, given->unit, unit);
  if (!value) {
    fail(found + "is in " + in_quotes(unit) + ", and there is no way from one to the other");
  }
  return value;
}

double NodeReader::number(const Constants& known, const std::string& unit) const {
  const auto given = quantity(unit);
  return given ? *given : number(known);
}

double NodeReader::number(const Constants& known) const {
  quantity("");
  const bool scalar = node_->kind == YamlNode::Kind::scalar;
  if (!scalar || parse_number(node_->text) || !looks_like_expression(node_->text)) {
    return number();
  }
  ExpressionNames names;
  names.constants = constants_in(node_->text, known);
  names.functions = known.functions;
  const PlacedExpression expression{
      node_->text,
      location() + ": " + what_ + " must be a finite number or an expression of known names"};
  const Expression tree = read_whole_expression(expression, names);
  const double value = value_of(tree, names);
  if (!std::isfinite(value)) {
    fail("must be a finite number; " + in_quotes(node_->text) + " is " + short_number(value));
  }
  return value;
}

double NodeReader::number() const {
  const bool plain = node_->kind == YamlNode::Kind::scalar && !node_->quoted;
  const auto value = plain ? parse_number(node_->text) : std::nullopt;
  if (!value) {
    const bool quoted_number = node_->quoted && parse_number(node_->text);
    fail("must be a finite number such as 2, -0.5 or 1e4, not " + found() +
         (quoted_number                    ? "; remove the quotes"
          : has_decimal_comma(node_->text) ? "; decimals stand behind a point"
                                           : ""));
  }
  return *value;
}

bool NodeReader::flag() const {
  const bool plain = node_->kind == YamlNode::Kind::scalar && !node_->quoted;
  if (!plain || (node_->text != "true" && node_->text != "false")) {
    fail("must be true or false, not " + found());
  }
  return node_->text == "true";
}

std::string NodeReader::text() const {
  if (node_->kind != YamlNode::Kind::scalar || node_->text.empty()) {
    fail("must be a text, not " + found() +
         (node_->kind == YamlNode::Kind::map && node_->flow ? "; put it in quotes" : ""));
  }
  return node_->text;
}

std::string NodeReader::text_of_value(const Constants& known) const {
  const std::string written = text();
  const auto uses = names_used(written);
  const auto is_known = [&](const NameUse& use) {
    return known.values.contains(use.name) ||
           (use.called && find_own(known.functions.get(), use.name) != nullptr);
  };
  const bool computed = !node_->quoted && std::any_of(uses.begin(), uses.end(), is_known) &&
                        std::all_of(uses.begin(), uses.end(), [&](const NameUse& use) {
                          return is_known(use) || is_reserved_in_expressions(use.name);
                        });
  return computed ? exact_number(number(known)) : written;
}

std::vector<NodeReader> NodeReader::items(const std::string& what_item) const {
  if (node_->kind != YamlNode::Kind::sequence) {
    fail("must be a list (lines that begin with '- '), not " + found());
  }
  std::vector<NodeReader> result;
  for (const YamlNode* item : node_->children) {
    result.emplace_back(*source_, *item, what_item);
  }
  return result;
}

std::vector<Field> NodeReader::fields(const std::string& role, const std::string& owner) const {
  if (is_null()) {
    return {};
  }
  if (node_->kind != YamlNode::Kind::map) {
    fail("must be a map (lines 'name: value'), not " + found());
  }
  std::vector<Field> result;
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i + 1 < node_->children.size(); i += 2) {
    const YamlNode& key = *node_->children[i];
    const NodeReader key_reader(*source_, key, "a key of " + what_);
    if (key.kind != YamlNode::Kind::scalar) {
      key_reader.fail("must be a name, not " + key_reader.found());
    }
    if (!seen.insert(key.text).second) {
      throw InputError(key_reader.location() + ": " + in_quotes(key.text) + " is there twice in " +
                       what_ + "; remove one");
    }
    std::string what = (role.empty() ? "" : role + " ") + in_quotes(key.text);
    what += owner.empty() ? "" : " of " + owner;
    result.push_back({key.text, key_reader.location(),
                      NodeReader(*source_, *node_->children[i + 1], std::move(what))});
  }
  return result;
}

std::vector<std::pair<NodeReader, NodeReader>> NodeReader::entries(
    const std::string& what_key) const {
  std::vector<std::pair<NodeReader, NodeReader>> result;
  std::size_t place = 0;
  for (const Field& field : fields("", what_)) {
    const YamlNode& key = *node_->children[2 * place++];
    result.emplace_back(NodeReader(*source_, key, what_key), field.value);
  }
  return result;
}

std::vector<Field> NodeReader::fields_named(const std::string& role, const std::string& owner,
                                            Names names) const {
  std::vector<Field> result = fields(role, owner);
  for (const Field& field : result) {
    if (!is_name(names == Names::indexed ? name_before_bracket(field.key) : field.key)) {
      const std::string state = state_in(field.key);
      if (role == "derivative" && !state.empty()) {
        throw InputError(field.key_location + ": " + field.value.what() +
                         " is named by its state: write " + state + ": ...");
      }
      throw InputError(field.key_location + ": " + field.value.what() +
                       " is not a name: use letters, digits and _, not starting with a digit" +
                       (node_->flow
                            ? " (inside { } a comma ends a value: put an expression with commas in "
                              "quotes)"
                            : ""));
    }
  }
  return result;
}

std::vector<Field> NodeReader::named_items(const std::string& role,
                                           const std::string& owner) const {
  std::vector<Field> result;
  for (const NodeReader& item : items(role + " of " + owner)) {
    if (item.node_->kind != YamlNode::Kind::scalar || !is_name(name_before_bracket(item.text()))) {
      item.fail("must be a name, not " + item.found() +
                "; what has values is a map: {name: value, ...}");
    }
    const NodeReader named = item.called(role + " " + in_quotes(item.text()) + " of " + owner);
    if (find_field(result, item.text())) named.fail("is there twice; remove one");
    result.push_back({item.text(), item.location(), named});
  }
  return result;
}

std::vector<Field> NodeReader::fields_or_names(const std::string& role,
                                               const std::string& owner) const {
  static const YamlNode nothing;
  if (!is_list()) return indexed_fields(role, owner);
  std::vector<Field> result = named_items(role, owner);
  for (Field& field : result) field.value.node_ = &nothing;
  return result;
}

std::vector<Field> NodeReader::fields_among(Keys keys) const {
  std::vector<Field> result = fields("", what_);
  std::vector<std::string> names;
  for (const Key& key : keys()) {
    names.emplace_back(key.name);
  }
  for (const Field& field : result) {
    if (std::find(names.begin(), names.end(), field.key) == names.end()) {
      throw InputError(field.key_location + ": unknown key " + in_quotes(field.key) + " in " +
                       what_ + place_of_key(field.key) + "; " + known("keys", field.key, names));
    }
  }
  for (const Key& key : keys()) {
    if (!key.remedy.empty() && !find_field(result, key.name)) {
      fail("lacks '" + std::string(key.name) + "'; add " + std::string(key.remedy));
    }
  }
  return result;
}

NodeReader field_of(const std::vector<Field>& fields, std::string_view key) {
  return find_field(fields, key).value();
}

std::optional<NodeReader> find_field(const std::vector<Field>& fields, std::string_view key) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.key == key; });
  return found == fields.end() ? std::nullopt : std::optional(found->value);
}

}  // namespace concord
