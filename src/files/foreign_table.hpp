#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "files/time_table.hpp"

namespace concord {

// Tables that others' libraries read and write for us, in Python: Parquet (pyarrow), MDF4
// (asammdf), Modelica's trajectories in MATLAB's format 4 (scipy). The interpreter is that of the
// environment variable CONCORD_PYTHON, else the python3 that $PATH finds. InputError says what is
// not there and how to get it.

/// By the name's ending: .parquet, .mf4, .mdf, .mat; but not what is HDF5 inside.
bool is_foreign_table(const std::filesystem::path& path);

/// Throws InputError with file and column.
TimeTable read_foreign_table(const std::filesystem::path& path, const std::string& time_column,
                             Gaps gaps);

/// What a table is written with beside its rows.
struct TableHeader {
  std::string title;               ///< of the model
  std::vector<std::string> names;  ///< without that of the time
  std::vector<std::string> units;  ///< of these, "" where unknown
};

class TableExchange;

/// Rows go to a temporary file first.
class ForeignTableOutput {
 public:
  /// Throws InputError where `path` cannot be written, or what writes it is not there.
  ForeignTableOutput(const std::filesystem::path& path, TableHeader header);
  ~ForeignTableOutput();

  /// Time in s, and a value per name.
  void write(double time, std::span<const double> values);
  /// Writes the file. Throws InputError.
  void close();

 private:
  std::filesystem::path path_;
  TableHeader header_;
  std::unique_ptr<TableExchange> exchange_;
  std::ofstream rows_;
};

}  // namespace concord
