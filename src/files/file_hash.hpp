#pragma once

#include <filesystem>
#include <string>

namespace concord {

/// SHA-256 (FIPS 180-4) of a file's bytes, 64 hexadecimal digits. Throws InputError where
/// it cannot be read.
std::string sha256_of(const std::filesystem::path& path);

}  // namespace concord
