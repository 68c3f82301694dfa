#pragma once

#include <filesystem>
#include <functional>

namespace concord {

/// A folder on this node that holds what `fill` puts there, made once for all processes of this MPI
/// job on this node (the others wait for the first). `key` tells contents apart.
///
/// The folder is below $TMPDIR, private to the user, and removed when the process that made it
/// ends, however it ends: a child process waits for that. Throws InputError when the temporary
/// folder cannot be used, and what `fill` throws.
std::filesystem::path shared_scratch_folder(
    const std::string& key, const std::function<void(const std::filesystem::path&)>& fill);

}  // namespace concord
