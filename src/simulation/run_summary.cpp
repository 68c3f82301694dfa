#include "simulation/run_summary.hpp"

#include <algorithm>

namespace concord {

void RunSummary::step_accepted(const StepReport& report) {
  const double h = report.step.size();
  smallest_step = steps == 0 ? h : std::min(smallest_step, h);
  largest_step = std::max(largest_step, h);
  ++steps;
  rejections += report.rejections;
  for (std::size_t r = 0; r < rejected_for.size(); ++r) {
    rejected_for[r] += report.rejected_for[r];
  }
  linear_iterations += report.coupling.linear_iterations;
  nodes += report.coupling.nodes;
  at_noise += report.coupling.at_noise ? 1 : 0;
  if (report.coupling.ended_early) lateness.end_early(report.coupling.residual);
  noise = std::max(noise, report.coupling.noise);
  events += static_cast<std::int64_t>(report.events.size());
  evaluations += report.coupling.evaluations;
  iterations += report.coupling.iterations;
}

}  // namespace concord
