#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace concord {

/// A table of numbers whose first column is time.
struct CsvTable {
  std::vector<double> time;                  ///< s; does not fall
  std::vector<std::string> names;            ///< of the other columns, each once
  std::vector<std::vector<double>> columns;  ///< one per name, as long as `time`
};

/// Reads a CSV file with a header row; fields are separated by commas, semicolons or tabs, whatever
/// the header has, and may be in double quotes; true and false are 1 and 0. Throws InputError with
/// file, line and column for everything else.
CsvTable read_csv(const std::filesystem::path& path);

}  // namespace concord
