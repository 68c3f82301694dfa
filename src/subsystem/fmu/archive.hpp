#pragma once

#include <filesystem>

namespace concord {

/// Unpacks a ZIP archive (an FMU, an SSP) into the empty folder `target`.
///
/// Everything is looked at before anything is written: absolute and climbing paths, backslashes,
/// symbolic links and devices, names that occur twice, encryption, more than 100 000 files, more
/// than 8 GB, and archives that grow two-hundredfold beyond 100 MB are refused with an InputError
/// that names the archive and the entry.
void unpack_archive(const std::filesystem::path& archive, const std::filesystem::path& target);

}  // namespace concord
