#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "studies/design.hpp"

namespace concord {

/// How one run of a sweep has ended.
struct RunRow {
  std::size_t run = 0;               ///< from 0, in the design
  int exit_code = 0;                 ///< as of `concord run`
  std::string error = {};            ///< empty where there is none
  double wall_time = 0.0;            ///< s
  std::string file = {};             ///< results
  std::vector<double> results = {};  ///< those asked for; empty where the run has failed
};

/// What a table's columns are called: run, parameters, exit_code, error, wall_time, file, results.
struct RunColumns {
  Design design;
  std::vector<std::string> results;  ///< "left.x:last"

  std::vector<std::string> names() const;
};

/// A line of the table's CSV, without its end.
std::string line_of(const RunColumns& columns, const RunRow& row);

/// The table of a sweep: a CSV file that grows by a line as each run ends, so that a kill loses no
/// more than what was running, and at the end is in the design's order, with an HDF5 file beside
/// it.
class RunTable {
 public:
  /// `path` ends in .csv. Nothing is written before the first row.
  RunTable(std::filesystem::path path, RunColumns columns);

  /// Takes over what an earlier call has left there, if anything. Throws InputError where that is
  /// the table of another sweep.
  void resume();

  /// Runs without a row that says that they were done.
  std::vector<std::size_t> missing() const;

  /// A line of `line_of`, read. Throws InputError where it cannot be written.
  const RunRow& add(const std::string& line);

  /// Both files, whole: `command_line` and `model` are attributes of the HDF5 file. Throws
  /// InputError.
  void write(const std::string& command_line, const std::string& model) const;

  std::filesystem::path hdf5_path() const;
  const std::map<std::size_t, RunRow>& rows() const { return rows_; }

 private:
  RunRow row_of(const std::vector<std::string>& fields, const std::string& place) const;
  void write_csv() const;

  std::filesystem::path path_;
  RunColumns columns_;
  std::map<std::size_t, RunRow> rows_;
  bool begun_ = false;
};

}  // namespace concord
