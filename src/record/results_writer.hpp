#pragma once

#include <mpi.h>

#include <filesystem>
#include <memory>
#include <span>

#include "record/results_content.hpp"
#include "record/step_sums.hpp"

namespace concord {

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
  /// cannot be done. `earlier`: the results file with the rows before, where the run goes on.
  void append_start(const ResultsRow& row, const std::string& earlier = {});
  /// Instead: goes on behind so much of the file that an earlier part of this run has written; what
  /// lies beyond is cut off. Throws InputError where that is not there, nothing being changed.
  void resume(const ResultsPosition& position);
  /// Whether what is there under the file's name is of one of these runs.
  bool would_replace(std::span<const std::string> runs) const;
  /// Whether the file of this run is there.
  bool begun() const;
  /// Appended so far.
  ResultsPosition position() const;
  /// A row, and the macro-steps that led there.
  void append(const ResultsRow& row, const StepSums& steps);
  /// Where rows are not at the ends of macro-steps (layout.grid): a row alone, and a macro-step
  /// alone, whose polynomials are those of `end`.
  void append_row(const ResultsRow& row);
  void append_step(const ResultsRow& end, const StepSums& step);
  /// Before the row of its instant; `left` has what was before it, the event is the same on every
  /// rank.
  void append_event(const ResultsRow& left, RecordedEvent event);

  /// Everything appended so far is on disk, and the file opens even if the program is killed now.
  void flush();

  /// Writes the rest, the status, what is known of the run's quality, and what it has cost, which
  /// the first rank knows. May follow a SimulationError of append or flush (then the rows that
  /// could not be written are left out). Before row 0 it makes a file without rows, unless an
  /// earlier one is there, which then stays.
  void close(RunStatus status, RunCosts costs, const RunQuality& quality = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace concord
