#pragma once

#include <memory>
#include <string>

#include "concord/simulation.hpp"

namespace concord {

/// Writes what a simulation goes through into a results file, as `concord run` does: one row per
/// accepted macro-step from the present communication point on. What is recorded, how often and
/// where is up to the simulation's options (cosim_output, cosim_record, cosim_record_every, ...).
///
/// All member functions, the constructor and the destructor are collective on the simulation's
/// ranks. The simulation must be started before and outlive the file. Rows are flushed every two
/// seconds, so that the file opens while the run goes on. Time only goes forward in it: a
/// macro-step that begins before the last row (after Simulation::restore) is an InputError of the
/// advance that made it; close the file before, or restore to later points only.
class ResultsFile {
 public:
  /// `path` takes the place of the option cosim_output, `command_line` says in the file where it is
  /// from. Throws InputError where the file cannot be written, or holds something else than results
  /// of this model.
  explicit ResultsFile(Simulation& simulation, const std::string& path = "",
                       const std::string& command_line = "");

  /// Without `close`, the file keeps what was flushed, and the status "running".
  ~ResultsFile();
  ResultsFile(ResultsFile&&) noexcept;
  ResultsFile& operator=(ResultsFile&&) noexcept;

  /// What was recorded so far is in the file.
  void flush();

  /// Writes the rest, what is known of the run's quality, what subsystems have cost, and how it
  /// ended: "completed", "interrupted" before the stop time, "failed" after an error, "diverged".
  /// Nothing is recorded from then on.
  void close();

 private:
  class Recording;
  std::unique_ptr<Recording> recording_;
};

}  // namespace concord
