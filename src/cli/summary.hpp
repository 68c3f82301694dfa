#pragma once

#include <string>

#include "simulation/run_costs.hpp"
#include "simulation/run_quality.hpp"
#include "simulation/run_summary.hpp"
#include "simulation/simulation_core.hpp"

namespace concord {

/// What -cosim_paces auto has come to.
void print_paces(const SimulationPlan& plan);

/// What the iteration integrates really, where it cannot integrate everything.
void print_roles(const SimulationPlan& plan);

/// What is known of a run after its last macro-step, for its reader.
struct Conclusion {
  RunStatus status = RunStatus::completed;
  RunQuality quality;
  std::vector<NamedError> errors;
  std::optional<std::string> balance;
  RunCosts costs;            ///< on the first rank
  std::string interpolated;  ///< whose rows between communication points; empty: nobody's
};

/// Collective.
Conclusion conclusion_of(const SimulationCore& simulation, const RunSummary& summary);

/// The same, of how good the run is alone. Collective.
void judge(const SimulationCore& simulation, const RunSummary& summary, Conclusion& conclusion);

/// For the reader of a summary or a check: what EventSteps::idle_at_start has found.
std::string note_on_idle_conditions(const std::string& conditions);

/// On stdout. `stop_reason`: why it has stopped early; may be empty. `wall_time` in s.
void print_summary(const SimulationCore& simulation, const RunSummary& summary,
                   const Conclusion& conclusion, const std::string& stop_reason, double wall_time);

}  // namespace concord
