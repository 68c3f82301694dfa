#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "modelfile/yaml/keys.hpp"
#include "modelfile/yaml/yaml_tree.hpp"

namespace concord {

struct Field;
class UserFunctions;

/// Names that expressions may use where the model file wants a number, and their values; and
/// functions that they may call.
struct Constants {
  std::unordered_map<std::string, double> values;
  std::shared_ptr<const UserFunctions> functions = {};  ///< null: none
};

/// A YAML node together with what it is in the model ("parameter 'm' of subsystem 'left'") and
/// where it stands. Every getter throws InputError: location, what it is, what was found, what it
/// should be.
class NodeReader {
 public:
  NodeReader(const std::string& source, const YamlNode& node, std::string what)
      : source_(&source), node_(&node), what_(std::move(what)) {}

  /// The same node, as part of something else.
  NodeReader called(std::string what) const { return {*source_, *node_, std::move(what)}; }

  std::string location() const;
  bool is(const NodeReader& other) const { return node_ == other.node_; }
  /// Of the file it stands in: where paths in it begin.
  std::filesystem::path folder() const { return std::filesystem::path(*source_).parent_path(); }
  const std::string& what() const { return what_; }
  bool is_null() const { return node_->kind == YamlNode::Kind::null; }
  bool is_quoted() const { return node_->quoted; }
  bool is_list() const { return node_->kind == YamlNode::Kind::sequence; }
  bool is_map() const { return node_->kind == YamlNode::Kind::map; }

  [[noreturn]] void fail(const std::string& message) const;

  /// A finite number, written as such.
  double number() const;
  /// A finite number, or an expression of `known` names.
  double number(const Constants& known) const;
  /// Likewise of what is in `unit`, into which "36 km/h" is converted.
  double number(const Constants& known, const std::string& unit) const;
  /// "36 km/h" in `unit`; nothing of what has no unit of its own.
  std::optional<double> quantity(const std::string& unit) const;
  /// A text that is not empty; numbers are texts, too.
  std::string text() const;
  /// A value whose type somebody else knows: an expression of `known` names, at least one, as the
  /// shortest text of its number; any other text as it stands.
  std::string text_of_value(const Constants& known) const;
  /// `true` or `false`.
  bool flag() const;
  /// The items of a list.
  std::vector<NodeReader> items(const std::string& what_item) const;
  /// The entries of a map whose keys are texts of any kind, each there once.
  std::vector<std::pair<NodeReader, NodeReader>> entries(const std::string& what_key) const;
  /// The entries of a map in their order, keys once each; nothing for a null node. The entries are
  /// named `role 'key' of <owner>`, or `'key' of <owner>` without role.
  std::vector<Field> fields(const std::string& role, const std::string& owner) const;
  /// `fields` of a map whose keys are names of the user's choice.
  std::vector<Field> named_fields(const std::string& role, const std::string& owner) const {
    return fields_named(role, owner, Names::plain);
  }
  /// Likewise; a name may have what stands in brackets behind it: "T[n]".
  std::vector<Field> indexed_fields(const std::string& role, const std::string& owner) const {
    return fields_named(role, owner, Names::indexed);
  }
  /// Likewise; names without values may stand in a list.
  std::vector<Field> fields_or_names(const std::string& role, const std::string& owner) const;
  /// The names in a list, each as its own value.
  std::vector<Field> named_items(const std::string& role, const std::string& owner) const;
  /// `fields` of a map that has these keys only, and those that it must have.
  std::vector<Field> fields_among(Keys keys) const;

 private:
  enum class Names { plain, indexed };
  std::vector<Field> fields_named(const std::string& role, const std::string& owner,
                                  Names names) const;
  std::string found() const;

  const std::string* source_;
  const YamlNode* node_;
  std::string what_;
};

/// A key of a map and its value.
struct Field {
  std::string key;
  std::string key_location;
  NodeReader value;
};

/// The field of that key, or nothing.
std::optional<NodeReader> find_field(const std::vector<Field>& fields, std::string_view key);

/// The field of a key that is there.
NodeReader field_of(const std::vector<Field>& fields, std::string_view key);

}  // namespace concord
