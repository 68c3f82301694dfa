#pragma once

#include <filesystem>

namespace concord {

/// What a file holds, as its first bytes show. A model is a text that describes one (YAML, SSD).
enum class FileContent { text, model, archive, picture, hdf5 };

/// Throws InputError where the file of that name holds something else than what is to be written in
/// its place: it stays. What is not there, empty or no regular file (/dev/null) may be replaced.
void require_replaceable(const std::filesystem::path& path, FileContent written);

}  // namespace concord
