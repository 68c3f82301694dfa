#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace concord {

/// Whether `text` is a name of the model file: letters, digits, `_`, not starting with a digit.
bool is_name(std::string_view text);

/// The finite number that the whole of `text` spells in YAML (12, -1e4, .5, +3., 0x1f, 0o17), or
/// nothing. The locale has no influence.
std::optional<double> parse_number(std::string_view text);

/// What blanks separate.
std::vector<std::string> words(const std::string& text);

/// The `name` of each.
template <class Entries>
std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    names.push_back(entry.name);
  }
  return names;
}

inline std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

/// "did you mean 'spring'? known names: mass, spring", where `what` is "names"; long lists are cut.
std::string known(std::string_view what, const std::string& found,
                  std::span<const std::string> candidates);

/// `text` in quotes, cut where it is long and with control characters replaced: for error messages.
std::string in_quotes(std::string_view text);

/// A field of CSV (RFC 4180): in quotes where it needs them.
std::string csv_field(std::string_view text);

/// At most 12 digits: for error messages.
std::string short_number(double value);

/// The shortest text that parse_number reads as the same value.
std::string exact_number(double value);

}  // namespace concord
