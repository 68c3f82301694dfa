#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace concord {

/// The file that a command's -o names, in place of what is there. Throws InputError where it cannot
/// be written; what is there stays then.
void write_output_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace concord
