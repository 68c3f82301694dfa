#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/recorded_rows.hpp"
#include "record/unreadable_results.hpp"
#include "support/hdf5_error.hpp"
#include "support/hdf5_handle.hpp"

namespace concord {

/// The path of a dataset f64[T, columns], "/outputs/values".
using Quantity = std::string_view;
/// "/inputs/derivatives" of "/inputs/values", whether it is recorded or not.
std::string slopes_of(Quantity quantity);

/// A recorded variable: a column of `quantity`.
struct RecordedVariable {
  std::string name;  ///< "left.x"
  std::string unit;
  Quantity quantity;  ///< ".../values"
  std::size_t column = 0;
  std::string display = {};  ///< the unit to show it in; that of older files is `unit`
};

/// The row of an instant at which something happened, and where its left limits are in /events.
struct EventRow {
  std::size_t row, entry;
};

/// What a subsystem has cost in the run, s in integration; zero where the run has not ended.
struct RecordedCost {
  std::string subsystem;
  double advances = 0.0;  ///< s in macro-steps
  double all = 0.0;       ///< s, with linearisations, outputs, save and restore, events
};

/// Reads a results file (FORMAT.md), or a table as one (results_of_table), on one rank. Everything
/// that is wrong with the file is an InputError that names it. Where a kill has left datasets of
/// different length, the rows that all of them have count.
class ResultsReader {
 public:
  explicit ResultsReader(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::string& model_name() const { return model_name_; }
  /// "running", "completed", "interrupted", "inaccurate", "diverged" or "failed".
  const std::string& status() const { return status_; }
  /// Rows in s, strictly increasing, at least one: those of the file, and where these are on a
  /// grid the instants of events between them.
  const std::vector<double>& time() const { return time_; }

  /// Whether rows are where the user wanted them.
  bool has_grid() const { return grid_; }
  /// Whether it is a row of the file's own.
  bool is_recorded(std::size_t row) const { return places_.empty() || !places_[row].of_event; }

  /// Times of events, ascending; more than once where more than one happened.
  const std::vector<double>& events() const { return events_; }

  /// Ascending, one per instant.
  const std::vector<EventRow>& event_rows() const { return event_rows_; }

  /// What happened, in the order of events(). Empty texts where the file is older.
  std::vector<RecordedEvent> read_events() const;
  /// In the order of time; none in files of models without texts.
  std::vector<RecordedText> read_texts() const;

  /// Left limits at event_rows() [first, first + count) of all columns, row-major; NaN where they
  /// are not known. In an older file rows at events are left limits themselves.
  void read_left_limits(Quantity quantity, std::size_t first, std::size_t count,
                        std::span<double> values) const;

  /// In the model file's order.
  std::vector<RecordedCost> costs() const;

  /// A dataset of one number, or of one text, per entry; empty where the file has none.
  std::vector<double> numbers(std::string_view path) const;
  std::vector<std::string> texts(std::string_view path) const;
  /// An attribute of the file; "", and not a number, where it has none.
  std::string text(const char* attribute) const;
  double number(const char* attribute) const;

  /// What is left of the equations of constraints, "force.residual": errors, not signals.
  std::vector<std::string> residuals() const;

  /// Whether slopes in rows are those of the signals, not of holds.
  bool knows_slopes() const;

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
  /// Of their left limits, [wanted][event_rows()].
  std::vector<std::vector<double>> read_left_columns(Quantity quantity,
                                                     std::span<const std::size_t> wanted) const;

 private:
  struct Table {
    Quantity quantity;
    const ResultsDataset* dataset;
    bool of_events = false;
    std::size_t rows = 0, columns = 0;
  };

  void open();
  void read_open();
  void read_header();
  void read_tables(const ResultsDataset& variables);
  void open_table(const ResultsDataset& dataset, std::size_t columns);
  const Table* table(Quantity quantity) const;
  std::vector<double> read_column(std::string_view path) const;
  void read_time();
  void find_events();
  void add_instants();
  void read_table(Quantity quantity, std::size_t first, std::size_t count,
                  std::span<double> values) const;
  void read_merged(Quantity quantity, std::size_t first, std::size_t count,
                   std::span<double> values) const;

  /// Of a row: in the tables of rows, or of what follows events.
  struct Place {
    bool of_event;
    std::size_t index;
  };

  std::filesystem::path path_;
  Hdf5Quiet quiet_;
  Hdf5File file_;
  RecordedRows rows_;
  std::vector<Table> tables_;
  std::string model_name_, status_;
  bool grid_ = false;
  std::vector<double> time_, events_;
  std::vector<Place> places_;  ///< of each row; none: all are the file's own
  std::vector<EventRow> event_rows_;
  std::vector<RecordedVariable> variables_;
};

/// Rows of `columns` doubles that make a few megabytes: a good size for read_rows.
std::size_t rows_per_read(std::size_t columns);

}  // namespace concord
