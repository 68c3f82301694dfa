#pragma once

#include <filesystem>
#include <string>

namespace concord {

/// A file that comes with the program, by its path there: "library/control.yaml"; empty where there
/// is none of that name.
std::filesystem::path shipped_file(const std::string& name);

}  // namespace concord
