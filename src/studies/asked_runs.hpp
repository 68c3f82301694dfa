#pragma once

#include <mpi.h>

#include <Eigen/Core>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "concord/simulation.hpp"
#include "files/time_table.hpp"

namespace concord {

/// What a run is to tell: values of variables at the stop, and at the times of tables those of
/// their columns, row by row.
struct Questions {
  std::vector<std::string> at_stop;
  std::vector<TimeTable> tables;

  std::size_t answers() const;
};

/// A table of measurements: a column `time` or `t`, and one for each variable. Throws InputError.
TimeTable read_measurements(const std::string& path);

/// Numbers of a model, by "subsystem.name", that differ from run to run, each a parameter or start
/// value; and the runs, in memory, each on its own group of ranks.
class AskedRuns {
 public:
  /// `options`: of every run. The ranks are shared out in groups of `ranks_per_run`. Throws
  /// InputError, also for questions about what the model does not have. Collective.
  AskedRuns(MPI_Comm comm, int ranks_per_run, const ModelSource& model, const Options& options,
            std::vector<std::string> names, Questions questions);
  ~AskedRuns();
  AskedRuns(const AskedRuns&) = delete;
  AskedRuns& operator=(const AskedRuns&) = delete;

  /// Rows of tables behind this time, s, are not run to, and answered with 0.
  void ask_until(double time) { until_ = time; }

  /// A column of answers for each point, NaN where the run there has failed. The same on every
  /// rank. Collective.
  Eigen::MatrixXd at(const std::vector<std::vector<double>>& points);

  std::size_t count() const { return count_; }

  /// The largest error that any run so far has estimated of itself, in units of a signal's range;
  /// nothing where some could not, or none has ended. The same on every rank.
  std::optional<double> largest_error() const {
    return unknown_.empty() && largest_error_ > 0.0 ? std::optional(largest_error_) : std::nullopt;
  }
  /// Why the first of those that could not estimate their errors could not; empty: all could.
  const std::string& unknown_error() const { return unknown_; }
  /// Throws what the first run that failed has, with its values behind `problem`; does nothing
  /// where none has. The same on every rank.
  void rethrow_failure(const std::string& problem) const;

 private:
  /// Of one of the tables.
  struct Row {
    double time;
    std::size_t table, row;
  };
  void order_rows();
  Changes changes(const std::vector<double>& point) const;
  void answer(const std::vector<double>& point, double* answers);
  void note_error();
  void read_rows(double* answers);
  void find_variables();

  MPI_Comm comm_, group_ = MPI_COMM_NULL;
  int groups_ = 1, own_group_ = 0;
  std::vector<std::string> names_;
  Questions questions_;
  std::unique_ptr<Simulation> simulation_;
  std::vector<Variable> at_stop_;
  std::vector<std::vector<Variable>> columns_;  ///< of each table
  std::vector<Row> rows_;                       ///< of all, as time goes
  double until_ = std::numeric_limits<double>::infinity();
  std::size_t count_ = 0;
  double largest_error_ = 0.0;
  std::string unknown_;
  std::string failure_;  ///< why the first one has failed; empty: none has
  bool wrong_input_ = false;
};

}  // namespace concord
