#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace concord {

/// Unpacks a ZIP archive (an FMU, an SSP) into the empty folder `target`.
///
/// Everything is looked at before anything is written: absolute and climbing paths, backslashes,
/// symbolic links and devices, names that occur twice with different contents, encryption, more
/// than 100 000 files, more than 8 GB, and archives that grow two-hundredfold beyond 100 MB are
/// refused with an InputError that names the archive and the entry.
void unpack_archive(const std::filesystem::path& archive, const std::filesystem::path& target);

/// The folder on this node into which the archive is unpacked, once for all processes of the job.
std::filesystem::path unpacked_archive(const std::filesystem::path& archive);

/// What is unusual about such an archive and does no harm: files that are there more than once. A
/// line each. Throws InputError where unpack_archive would.
std::vector<std::string> remarks_on_archive(const std::filesystem::path& archive);

}  // namespace concord
