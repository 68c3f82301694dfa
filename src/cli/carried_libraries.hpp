#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace concord {

/// The shared libraries that the binary of an FMU of a whole model needs, by the names by which
/// they are looked for: as this process has loaded them, with the plugins of Open MPI that a
/// process alone takes, but without the C library; and the database of units. Throws InputError
/// under a launcher of MPI, which has others loaded.
std::map<std::string, std::filesystem::path> carried_files(const std::filesystem::path& binary);

/// A library's content, which looks for what it needs beside itself where it has looked in a folder
/// of its own. What is no such library stays as it is.
std::string looking_beside(std::string content);

}  // namespace concord
