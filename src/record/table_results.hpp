#pragma once

#include <filesystem>

#include "support/hdf5_handle.hpp"

namespace concord {

/// Whether a table is there in the place of a results file: CSV, or another format by its name.
bool is_table(const std::filesystem::path& path);

/// A table as a results file in memory, whose outputs are the columns. A time that is there more
/// than once is an event: its first row holds what was before it, its last one what follows. Throws
/// InputError.
Hdf5File results_of_table(const std::filesystem::path& path);

}  // namespace concord
