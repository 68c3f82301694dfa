#pragma once

#include <filesystem>
#include <functional>

namespace concord {

/// A folder on this node that holds what `fill` puts there, made once for all processes of this MPI
/// job on this node (the others wait for the first). `key` tells contents apart.
///
/// The folder is below $TMPDIR under a name that nobody can guess, private to the user, and removed
/// when the processes that use it have ended, however they end: a child process waits for that.
/// What is left where that child was killed, too, the next run removes. Throws InputError when the
/// temporary folder cannot be used, and what `fill` throws.
std::filesystem::path shared_scratch_folder(
    const std::string& key, const std::function<void(const std::filesystem::path&)>& fill);

}  // namespace concord
