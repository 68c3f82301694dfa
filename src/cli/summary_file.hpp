#pragma once

#include <string>

#include "cli/summary.hpp"

namespace concord {

/// How a run has ended, for -cosim_summary; on the first rank.
struct RunEnd {
  const SimulationCore& simulation;
  const RunSummary& summary;
  const Conclusion& conclusion;
  const RunCosts& costs;
  std::string status;  ///< as in the results file
  std::string reason;  ///< of an early end, or the error; may be empty
  double wall_time;    ///< s
};

/// Throws InputError where the file cannot be written.
void write_summary_file(const std::string& path, const RunEnd& end);

}  // namespace concord
