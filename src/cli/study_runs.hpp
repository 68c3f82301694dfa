#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/comparison.hpp"
#include "cli/model_command.hpp"

namespace concord {

/// One run of a study: a method with a macro-step, and what came of it.
struct StudyRun {
  std::string type;
  double step = 0.0;  ///< s
  std::string file = {};
  std::string failure = {};  ///< empty: completed
  bool wrong_input = false;  ///< is what it failed for
  std::int64_t steps = 0, evaluations = 0;
  std::int64_t rhs = 0;    ///< evaluations of right-hand sides, of all subsystems
  double wall_time = 0.0;  ///< s
  Comparison errors = {};  ///< against the reference, per output
  double order = 0.0;      ///< observed from the step before; NaN where there is none

  bool completed() const { return failure.empty(); }
  /// The output with the largest relative L2 error; the one with the largest maximum, of ranges.
  const VariableError& worst() const;
  const VariableError& worst_maximum() const;
};

/// What the errors are measured against.
struct StudyReference {
  StudyRun run;
  std::string why;  ///< not `monolithic`; empty where it is
};

/// `message`, and what it failed for: as InputError where it was wrong input.
[[noreturn]] void throw_failure(const StudyRun& run, const std::string& message);

/// Options of one run: those of the command line, and over them these, without dash.
using RunOptions = std::map<std::string, std::string>;

/// Runs the model on all ranks with these options; failures end in `run.failure`. Collective.
void run_in_study(const ModelFileCall& call, const RunOptions& given, StudyRun& run);

/// Against the monolithic run where the model allows one, else against the method of most use here
/// with a quarter of the smallest step, both with tight tolerances; into `folder`. Throws
/// SimulationError, or InputError, where there is none. Collective.
StudyReference reference_run(const ModelFileCall& call, double smallest_step,
                             const std::filesystem::path& folder);

/// Of runs of one method, by falling step: p in error ~ step^p between neighbours.
void observe_orders(std::vector<StudyRun>& runs);

}  // namespace concord
