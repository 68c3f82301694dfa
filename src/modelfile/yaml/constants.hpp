#pragma once

#include <deque>
#include <string>
#include <vector>

#include "modelfile/changes/model_changes.hpp"
#include "modelfile/yaml/node_reader.hpp"

namespace concord {

/// The entries as numbers, which may name each other, in any order, and `known` names, which theirs
/// hide. Throws InputError, also for those that need each other.
Constants resolved(const std::vector<Field>& entries, const Constants& known);

/// Throws InputError for a key that means something in every expression already.
void refuse_taken_name(const Field& field);

/// Entries of `over` in the place of those of the same name in `base`; others behind them.
std::vector<Field> merged(std::vector<Field> base, const std::vector<Field>& over);

/// What changes say, as if it stood in the model file.
class ChangedFields {
 public:
  /// `owner` is what the entries belong to: "subsystem 'ball'".
  std::vector<Field> of(const ModelChanges& changes, const std::string& owner);

  /// The field with what is given in other units, "36 km/h", converted into `unit`.
  Field in_unit(const Field& field, const std::string& unit);

 private:
  NodeReader made(const std::string& text, const std::vector<std::string>& items,
                  const std::string& location, const std::string& what);

  std::deque<YamlNode> nodes_;
  std::deque<std::string> locations_;
};

}  // namespace concord
