#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace concord {

/// A name in an expression. Names may have parts joined by dots ("left.x"), and be elements of
/// vectors ("T[3]", "cell[2].x").
struct NameUse {
  std::string name;      ///< of the time `t`, also where `time` is written
  std::size_t position;  ///< of its first character, counted from 0
  std::size_t length;    ///< as it is written
  bool called;           ///< a parenthesis follows
};

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether expressions call the time so: t, time.
bool means_time(std::string_view name);

/// The name that begins at `position`, where a letter or _ must stand.
NameUse name_at(std::string_view text, std::size_t position);

/// The first name at or behind `from`; nothing where there is none.
std::optional<NameUse> next_name(std::string_view text, std::size_t from);

/// Whether this is a name as expressions use it: "T", "T[3]", without dots.
bool is_variable_name(std::string_view text);

/// A part of a text.
struct TextPart {
  std::size_t begin, end;
};

/// Where `c` stands outside round and square brackets; the part's end where it doesn't.
std::size_t find_outside_brackets(std::string_view text, TextPart part, char c);

/// What stands between `separator`s outside brackets.
std::vector<TextPart> split_outside_brackets(std::string_view text, TextPart part, char separator);

/// The names that `text` uses, in their order, each as often as it stands there.
std::vector<NameUse> names_used(std::string_view text);

/// The text with other names: what `instead` says of each, itself where it says nothing.
std::string with_names(
    std::string_view text,
    const std::function<std::optional<std::string>(const NameUse& use)>& instead);

/// Something wrong that is visible without knowing any name.
struct ScanProblem {
  std::size_t position;  ///< counted from 0
  std::string message;   ///< empty: nothing is wrong
};

/// Looks for what an expression must not contain: characters that mean nothing, assignments, and
/// parentheses or commas that would break out of a list of expressions.
ScanProblem find_problem(std::string_view text);

}  // namespace concord
