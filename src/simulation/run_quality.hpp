#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace concord {

class SimulationCore;
struct RunSummary;

/// `inaccurate`: its own estimate is above a tenth of a signal's range, or nothing is known of its
/// error, as an event was not decided; `diverged`: went on to its
/// end although that was as large as its signals.
enum class RunStatus { running, completed, interrupted, failed, inaccurate, diverged };

/// What is known of how good a run is; the same on every rank but for `output_errors`.
struct RunQuality {
  std::vector<double> output_errors;  ///< of this rank's outputs, by local index; empty: unknown
  double worst = std::numeric_limits<double>::quiet_NaN();  ///< of all outputs
  std::string worst_output;
  std::optional<double> of_range;  ///< the largest in units of ranges
  std::string no_estimate;         ///< why not; empty where there is one
  std::string estimated_by;        ///< a word for results files; empty where there is none
  std::string diverged;            ///< where and when; empty where it has not
  std::string undecided;        ///< what happened, or did not, by less than the error; empty: none
  std::string accuracy;         ///< which was wanted, and whether it is reached; empty: none was
  double deciding_share = 1.0;  ///< of the error, with which that would be known
  std::int64_t at_noise = 0;
  std::int32_t events = 0;
  std::int64_t late_events = 0;  ///< found where somebody cannot roll back
  std::int64_t black_box_jumps = 0;
  std::string idle_at_start;  ///< conditions that were true there and did not act; empty: none
  std::string driven;  ///< what no estimate has, as inputs were set from outside; empty: were not
  std::string by_the_clock;  ///< how late it was; empty where it does not go by the clock
  std::int64_t revived = 0;  ///< isolated subsystems that had died, each time
};

/// Up to now. Collective.
RunQuality quality_of(const SimulationCore& simulation, const RunSummary& summary);

/// After the last macro-step.
RunStatus status_of(const SimulationCore& simulation, const RunQuality& quality);

using NamedError = std::pair<std::string, double>;

/// The outputs with the largest estimated errors, relative to their sizes, the worst first.
/// Collective.
std::vector<NamedError> worst_errors(const SimulationCore& simulation);

/// Of all connections, in words; nothing where it is not measured. Collective.
std::optional<std::string> largest_balance_error(const SimulationCore& simulation);

}  // namespace concord
