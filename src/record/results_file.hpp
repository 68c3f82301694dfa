#pragma once

#include <filesystem>
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

/// Throws Hdf5Error unless the file at `path` is that of this run, has its columns, and so many
/// rows and events, if it holds them itself.
void require_continuable(const std::filesystem::path& path, const ResultsLayout& layout,
                         const ResultsPosition& left);

/// The file at `path` with so many rows and events left, as that of a run that goes on. Throws
/// Hdf5Error where it is not continuable, nothing being changed.
void cut_results(const std::filesystem::path& path, const ResultsLayout& layout,
                 const ResultsPosition& left);

/// Writes the file at `path` anew, gzip's level being `compression` (0: none), and puts it in the
/// place of the old one, which stays until then. Throws
/// Hdf5Error or std::filesystem_error.
void rewrite_results(const std::filesystem::path& path, const ResultsLayout& layout,
                     int compression);
/// Whether that was done.
bool is_compressed(const std::filesystem::path& path);

/// The same, above layout.parts in the place of rows, with room for its end.
void show_parts(const std::filesystem::path& path, const ResultsLayout& layout);

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

/// Makes the file as long as `end`, where the next H5Fflush will let it end, and says so in its
/// superblock. H5Fflush writes the superblock after the index: a program killed in between would
/// leave rows beyond the end that no program can read ("addr overflow"). End of file address of a
/// superblock of version 0: HDF5 File Format Specification 3.0, II.A.
void announce_end(const std::filesystem::path& path, std::uintmax_t end);

/// Throws Hdf5Error.
void write_end(hid_t file, const ResultsLayout& layout, const ResultsEnd& end);

}  // namespace concord
