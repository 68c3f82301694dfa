#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/hdf5_error.hpp"
#include "support/hdf5_handle.hpp"

namespace concord {

/// The path of a dataset f64[T, columns], "/outputs/values".
using Quantity = std::string_view;

struct ResultsDataset;

/// A recorded variable: a column of `quantity`.
struct RecordedVariable {
  std::string name;  ///< "left.x"
  std::string unit;
  Quantity quantity;  ///< ".../values"
  std::size_t column = 0;
};

/// What a subsystem has cost in the run, s in integration; zero where the run has not ended.
struct RecordedCost {
  std::string subsystem;
  double wall_time = 0.0;
};

/// Reads a results file (FORMAT.md), on one rank. Everything that is wrong with the file is an
/// InputError that names it. Where a kill has left datasets of different length, the rows that all
/// of them have count.
class ResultsReader {
 public:
  explicit ResultsReader(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::string& model_name() const { return model_name_; }
  /// "running", "completed", "interrupted" or "failed".
  const std::string& status() const { return status_; }
  /// Communication points in s, strictly increasing, size T >= 1.
  const std::vector<double>& time() const { return time_; }

  /// Times at which the model says that something jumps, ascending; empty where the file is older.
  const std::vector<double>& events() const { return events_; }

  /// In the model file's order.
  std::vector<RecordedCost> costs() const;

  /// Outputs, then inputs, states and balance errors; of several with one name, the first only.
  const std::vector<RecordedVariable>& variables() const { return variables_; }
  const RecordedVariable* find(const std::string& name) const;

  /// 0 where it was not recorded.
  std::size_t columns(Quantity quantity) const;

  /// Rows [first, first + count) of all columns, row-major [count, columns].
  void read_rows(Quantity quantity, std::size_t first, std::size_t count,
                 std::span<double> values) const;

  /// Whole columns of one quantity, [wanted][T].
  std::vector<std::vector<double>> read_columns(Quantity quantity,
                                                std::span<const std::size_t> wanted) const;

 private:
  struct Table {
    Quantity quantity;
    Hdf5Dataset dataset;
    std::size_t rows = 0, columns = 0;
  };

  void open();
  void read_header();
  void read_tables(const ResultsDataset& variables);
  void open_table(const std::string& path, std::size_t columns);
  const Table* table(Quantity quantity) const;
  void read_time();
  void read_events();

  std::filesystem::path path_;
  Hdf5Quiet quiet_;
  Hdf5File file_;
  std::vector<Table> tables_;
  std::string model_name_, status_;
  std::vector<double> time_, events_;
  std::vector<RecordedVariable> variables_;
};

/// Rows of `columns` doubles that make a few megabytes: a good size for read_rows.
std::size_t rows_per_read(std::size_t columns);

}  // namespace concord
