#pragma once

#include <mpi.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "record/results_content.hpp"
#include "record/step_sums.hpp"

namespace concord {

/// Whether a run starts, or may go on from a checkpoint.
enum class RunBegins { anew, perhaps_from_checkpoint };

/// Writes the results file of contract section 5, in large buffered writes: the first rank, what
/// all of them have. Every member function, the destructor too, is collective. Layout:
/// src/record/FORMAT.md.
///
/// The file is there from the first row on; what was there before stays until then. It is touched
/// only by flush, by close and by an append that fills the buffer, so a killed run leaves what
/// these wrote. No other run can write it meanwhile (WriterLock). A write error is a
/// SimulationError on every rank alike; the file then keeps the rows written before. Destroyed
/// without close, the file stays "running" and rows not yet written are dropped.
class ResultsWriter {
 public:
  /// Throws InputError (on every rank alike) when the file cannot be written, when a file that
  /// isn't a results file of this model is in the way (where a run may go on, it says so when it
  /// does not), or when another run is writing it.
  ResultsWriter(MPI_Comm comm, const std::filesystem::path& path, const ResultsLayout& layout,
                RunBegins begins = RunBegins::anew);
  ~ResultsWriter();

  /// Row 0. Creates the file, or replaces one of this model, in one go; throws InputError when that
  /// cannot be done. `earlier`: the results file with the rows before, where the run goes on.
  void append_start(const ResultsRow& row, const EarlierRows& earlier = {});
  /// Instead: goes on behind so much of the file that an earlier part of this run has written, in
  /// a copy without what lies beyond, which takes its place when it is whole. Gives the reason
  /// where that is lost (not there, damaged, too short); throws InputError where another run's is
  /// there, or there is no room. Nothing is changed then.
  std::optional<std::string> resume(const ResultsPosition& position);
  /// Why `resume` would not find what it needs; of the first rank.
  std::optional<ResultsObstacle> obstacle(const ResultsPosition& position) const;
  /// Gives what is there another name, and tells it; empty where nothing is. Throws InputError.
  std::string set_aside();
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
  /// Before the row of its instant, if that has one; what was before it and what follows. The
  /// event is the same on every rank.
  void append_event(const ResultsRow& left, const ResultsRow& right, RecordedEvent event);

  /// From when on a text output is what, behind row 0; the same on every rank.
  void append_text(RecordedText text);

  /// Everything appended so far is in the file, which opens even if the program is killed now.
  void flush();
  /// Everything up to `position` is on the disk, whatever becomes of the machine. Throws
  /// SimulationError where it is not.
  void secure(const ResultsPosition& position);

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
