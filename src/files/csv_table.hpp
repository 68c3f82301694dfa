#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace concord {

/// A table of numbers over time.
struct CsvTable {
  std::vector<double> time;                  ///< s; does not fall
  std::string time_name;                     ///< of its column
  std::vector<std::string> names;            ///< of the other columns, each once
  std::vector<std::vector<double>> columns;  ///< one per name, as long as `time`
};

/// Reads a CSV file with a header row; fields are separated by commas, semicolons or tabs, whatever
/// the header has, and may be in double quotes; true and false are 1 and 0. Time is in the column
/// of that name, in the first one where none is named. Throws InputError with file, line and column
/// for everything else.
CsvTable read_csv(const std::filesystem::path& path, const std::string& time_column = "");

}  // namespace concord
