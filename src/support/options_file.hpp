#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace concord {

/// Whether PETSc takes `word` for the name of an option: -name, but not -1 or -inf.
bool is_option_name(std::string_view word);

/// Words between blanks; quotes keep blanks, and `#` at the beginning of a word ends the text.
/// Throws InputError, whose text begins with `place`, for a quote that is not closed.
std::vector<std::string> split_words(std::string_view text, const std::string& place);

/// Names and values of the options file in their order: -name value -name -name value. Each line
/// has one option. Throws InputError, whose text begins with "file:line: ".
std::vector<std::string> read_options_file(const std::filesystem::path& path);

}  // namespace concord
