#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "record/results_schema.hpp"
#include "support/hdf5_handle.hpp"

namespace concord {

// What one rank does to a results file: the check before, the file without rows, the end.
// Layout: FORMAT.md.

/// Throws InputError, which names `path` and the remedy, unless `path` can be created or holds
/// results of the model `model_name`, which may be replaced.
void require_replaceable(const std::filesystem::path& path, const std::string& model_name);

/// Creates `path` with all groups, names, attributes and datasets, without rows, and closes it.
/// `ranks` is the number of ranks of the run. Throws Hdf5Error; `path` is not there then.
void create_empty_results(const std::filesystem::path& path, const ResultsLayout& layout,
                          int ranks);

/// The dataset as it is before the first row. Throws Hdf5Error.
void create_dataset(hid_t file, const ResultsDataset& dataset, const ResultsLayout& layout);

/// What keeps a run from going on in the file at `path` from `left`, its columns being those of
/// `layout`; looked for in a child process first, for HDF5 does not survive every damage.
std::optional<ResultsObstacle> obstacle_in(const std::filesystem::path& path,
                                           const ResultsLayout& layout,
                                           const ResultsPosition& left);

/// What the end of a run tells, as it is before; the status in place of that of a run that goes on,
/// except in parts. Throws Hdf5Error.
void begin_end_attributes(hid_t file, const ResultsLayout& layout, const std::string& status);

/// The attributes and tables of a run that goes on in the file. Throws Hdf5Error.
void enter_run(hid_t file, const ResultsLayout& layout);

/// Writes the file `to` (which may be `from`, and appears when it is whole) with so many rows and
/// events of `from` as are left, as that of a run that goes on. Throws Hdf5Error or
/// std::system_error.
void continue_results(const std::filesystem::path& from, const std::filesystem::path& to,
                      const ResultsLayout& layout, const ResultsPosition& left);

/// Writes the file at `path` anew, gzip's level being `compression` (0: none), and puts it in the
/// place of the old one, which stays until then. Throws
/// Hdf5Error or std::filesystem_error.
void rewrite_results(const std::filesystem::path& path, const ResultsLayout& layout,
                     int compression);

/// Writes the file `to` with so much of `from` as is left of a run that is over. Throws the same.
void salvage_results(const std::filesystem::path& from, const std::filesystem::path& to,
                     const ResultsLayout& layout, const Lengths& left);

/// The same, above layout.parts in the place of rows, with room for its end; `goes_on`: as that of
/// a run that does.
void show_parts(const std::filesystem::path& path, const ResultsLayout& layout, bool goes_on);

/// Rows of a chunk at most; the default run has 1000 steps: one chunk.
inline constexpr std::uint64_t most_chunk_rows = 1024;

/// What the end of a run adds to a file at most: a new status takes a few kilobytes.
inline constexpr std::uintmax_t end_bytes = 16384;

/// Takes disk space for the first `size` bytes of the file at `path`. HDF5 does not survive a full
/// disk (its caches cannot be closed any more), so there has to be room before it writes. Throws
/// Hdf5Error with the reason.
void reserve_space(const std::filesystem::path& path, std::uintmax_t size);

/// Takes it for what the end of a run adds to the file. Throws Hdf5Error.
void reserve_room_for_end(const std::filesystem::path& path);

/// Throws Hdf5Error.
void write_end(hid_t file, const ResultsLayout& layout, const ResultsEnd& end);

}  // namespace concord
