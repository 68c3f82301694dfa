#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/words.hpp"

namespace concord {

/// Reads values from the PETSc options database; a malformed or forbidden value is an InputError
/// that names option, value and what is allowed. Without a PETSc session no option is given.
namespace options {

bool has(const std::string& name);
/// As if the command line had it.
void set(const std::string& name, const std::string& value);
/// As if nobody had given it.
void clear(const std::string& name);
std::optional<std::string> text(const std::string& name);
std::optional<double> real(const std::string& name);
std::optional<double> positive(const std::string& name);
std::optional<int> integer(const std::string& name, int smallest, int largest);
std::optional<bool> flag(const std::string& name);

std::size_t choice_index(const std::string& name, const std::string& value,
                         std::span<const std::string_view> allowed);

/// The value that one of the words of T stands for.
template <class T>
std::optional<T> choice(const std::string& name) {
  const auto value = text(name);
  if (!value) {
    return std::nullopt;
  }
  std::vector<std::string_view> allowed;
  for (const WordOf<T>& one : words_of<T>()) {
    allowed.push_back(one.word);
  }
  return words_of<T>()[choice_index(name, *value, allowed)].value;
}

/// Names (without dash) of all options in the database that begin with `prefix`.
std::vector<std::string> given(const std::string& prefix);

/// Whether an option's name begins with `prefix`; like PETSc, small and capital letters are one.
bool begins_with(const std::string& name, const std::string& prefix);

/// The database as text, for the results file.
std::string all();

/// Names (without dash) and values of a database as text, none of which counts as read.
std::vector<std::pair<std::string, std::string>> named(const std::string& database);

}  // namespace options

/// Number of insertions, deletions and replacements that turn a into b (Levenshtein 1966).
std::size_t edit_distance(const std::string& a, const std::string& b);

/// The candidate nearest to `word` (few edits away), or nothing.
std::optional<std::string> nearest(const std::string& word,
                                   std::span<const std::string> candidates);

/// "a, b, c"
std::string joined(std::span<const std::string> words, std::string_view separator = ", ");

}  // namespace concord
