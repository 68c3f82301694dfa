#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "files/time_table.hpp"

namespace concord {

/// Whether it is, or is called, an HDF5 file.
bool is_results_file(const std::filesystem::path& path);

/// Variables of a results file over time.
struct ResultsRows {
  TimeTable table;                 ///< a column for each variable that was wanted
  std::vector<std::string> units;  ///< of the columns
};

/// Variables of a results file, which may be still running. Where one jumps at an event, the time
/// is there twice: with the left limits, then the right ones; a left limit that is not known is
/// where the two rows before lead. Throws InputError, for an unknown variable with the nearest
/// names.
ResultsRows read_results_rows(const std::filesystem::path& path,
                              std::span<const std::string> variables);

}  // namespace concord
