#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "concord/polynomial.hpp"
#include "simulation/run_quality.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// The columns of one dataset that this rank writes.
struct RecordedColumns {
  bool recorded = true;             ///< false leaves the group out of the file
  std::size_t total = 0;            ///< columns of the dataset, over all ranks
  std::vector<std::string> names;   ///< all `total` of them, in model-file order
  std::vector<std::string> units;   ///< all `total` of them
  std::vector<std::size_t> column;  ///< global column of each of this rank's columns, ascending
  std::vector<std::size_t> local_index;  ///< where this rank finds it in its own arrays
};

/// What a results file holds; columns of what is not recorded are empty.
struct ResultsLayout {
  std::string model_name;
  std::string command_line;
  std::string petsc_options;
  std::vector<double> events;  ///< s, ascending: the model's within the experiment
  RecordedColumns outputs, inputs, states;
  RecordedColumns balance{false, 0, {}, {}, {}, {}};  ///< named like connections, of local inputs
  bool polynomials = false;                  ///< /inputs/polynomials for the columns of `inputs`
  std::vector<std::string> subsystem_names;  ///< all, in model-file order
  std::vector<std::string> subsystem_kinds;
  std::vector<int> subsystem_ranks;
  std::vector<std::size_t> own_subsystems;  ///< global indices of this rank's subsystems
};

/// One row: this rank's arrays at a communication point, whole (the layout picks the columns).
struct ResultsRow {
  double time = 0.0;
  std::span<const Sample> outputs;
  std::span<const Sample> inputs;
  std::span<const double> states;
  std::span<const Polynomial> polynomials;  ///< of the macro-step that ended here
  std::span<const double> balance = {};     ///< accumulated balance error of every input
};

/// The /steps entries of the macro-step that ended at a row; the same on every rank.
struct StepStatistics {
  double size = 0.0;
  std::int32_t iterations = 0;
  std::int32_t coupling_evaluations = 0;
  std::int32_t linear_iterations = 0;
  std::int32_t rejections = 0;
  double residual = 0.0;
  double error_estimate = std::numeric_limits<double>::quiet_NaN();
  double wall_time = 0.0;
};

/// Writes the results file of contract section 5, all ranks together, in large buffered writes.
/// Every member function, the destructor too, is collective. Layout: src/record/FORMAT.md.
///
/// The file is there from the first row on; what was there before stays until then. It is touched
/// only by flush, by close and by an append that fills the buffer, so a killed run leaves what
/// these wrote. No other run can write it meanwhile (ResultsLock). A write error is a
/// SimulationError on every rank alike; the file then keeps the rows written before. Destroyed
/// without close, the file stays "running" and rows not yet written are dropped.
class ResultsWriter {
 public:
  /// Throws InputError (on every rank alike) when the file cannot be written, when a file that
  /// isn't a results file of this model is in the way, or when another run is writing it.
  ResultsWriter(MPI_Comm comm, const std::filesystem::path& path, const ResultsLayout& layout);
  ~ResultsWriter();

  /// Row 0. Creates the file, or replaces one of this model, in one go; throws InputError when that
  /// cannot be done.
  void append_start(const ResultsRow& row);
  /// Whether the file of this run is there.
  bool begun() const;
  void append(const ResultsRow& row, const StepStatistics& step);

  /// Everything appended so far is on disk, and the file opens even if the program is killed now.
  void flush();

  /// Writes the rest, the status, what is known of the run's quality and the counters of this
  /// rank's own subsystems, in the order of layout.own_subsystems. May follow a SimulationError of
  /// append or flush (then the rows that could not be written are left out). Before row 0 it makes
  /// a file without rows, unless an earlier one is there, which then stays.
  void close(RunStatus status, std::span<const Counters> own_counters,
             const RunQuality& quality = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace concord
