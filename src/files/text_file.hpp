#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace concord {

/// The whole text of a file. Throws InputError that begins with its path and ends with what is
/// `wanted` there: "a model file (YAML)".
std::string read_text_file(const std::filesystem::path& path, const std::string& wanted);

/// The line of the character at `position`, counted from 1.
std::size_t line_at(std::string_view text, std::size_t position);

}  // namespace concord
