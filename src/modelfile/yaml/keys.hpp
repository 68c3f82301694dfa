#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace concord {

struct Key;
/// The keys that a map may have.
using Keys = std::span<const Key> (*)();

/// What a value of the model file may be.
struct EntryShape {
  enum class Kind {
    number,      ///< or an expression of parameters
    expression,  ///< also of variables
    text,
    flag,     ///< true or false
    value,    ///< whatever an FMU's variable takes
    choice,   ///< one of `words`
    list,     ///< of `each`
    names,    ///< a map from names of the user's choice to `each`
    paths,    ///< likewise, where names may have dots and brackets
    vectors,  ///< likewise, where names may have brackets behind them, and values be lists
    record,   ///< a map of `keys`
    either,   ///< `each`, or a map of `keys`
  };

  Kind kind;
  bool may_lack = false;  ///< `key:` without a value is allowed
  Keys keys = nullptr;
  const EntryShape* each = nullptr;
  std::size_t count = 0;  ///< of a list or map: how many there must be; 0: as many as wanted
  std::span<const std::string_view> words = {};
  bool listable = false;  ///< of a map: a list of names may stand in its place
  const EntryShape* paired =
      nullptr;  ///< of a list: a map from texts to these may stand in its place
};

/// A key of the model file. Reading, messages and the schema follow from it.
struct Key {
  std::string_view name;
  EntryShape shape;
  std::string_view meaning;      ///< for the schema
  std::string_view remedy = "";  ///< of a key that must be there: what to add
  bool alternative = false;      ///< exactly one of these must be there
};

}  // namespace concord
