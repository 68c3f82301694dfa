#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace concord {

// What is shown is made in Python, by the package concord: python/concord/_command.py. InputError
// says what is missing of it.

/// Becomes Python, which does the command with these words and ends with its exit code.
[[noreturn]] void go_on_in_python(const Command& command, const GivenWords& given);

/// Throws InputError where Python, Concord's package or matplotlib are missing, and where one of
/// the pictures does not end as a picture does, .png, .svg or .pdf.
void require_drawing(const std::vector<std::string>& pictures);

/// `kind`: what the package knows to draw from such data. Throws InputError; then there is no part
/// of the picture.
void draw_in_python(const std::string& kind, const nlohmann::json& data,
                    const std::filesystem::path& picture);

}  // namespace concord
