#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace concord {

/// The file that a command's -o names, in place of what is there. Throws InputError where it cannot
/// be written; what is there stays then.
void write_output_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// A text, in place of what is no data in HDF5.
void write_output_file(const std::filesystem::path& path, const std::string& text);

}  // namespace concord
