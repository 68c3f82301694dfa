#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace concord {

/// A table of numbers over time.
struct TimeTable {
  std::vector<double> time;                  ///< s; does not fall
  std::string time_name;                     ///< of its column
  std::vector<std::string> names;            ///< of the other columns, each once
  std::vector<std::string> units;            ///< of these, "" where unknown; of CSV none at all
  std::vector<std::vector<double>> columns;  ///< one per name, as long as `time`
};

/// What becomes of a field without number.
enum class Gaps { refused, not_a_number };

/// Reads a table by its kind: CSV (read_csv), or what is_foreign_table() tells. Time is in the
/// column of that name; where none is named, in the first one of CSV, and in that called time, else
/// the first one, of others. Throws InputError with file, line and column.
TimeTable read_table(const std::filesystem::path& path, const std::string& time_column = "",
                     Gaps gaps = Gaps::refused);

}  // namespace concord
