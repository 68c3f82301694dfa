#pragma once

#include "network/schedule.hpp"

namespace concord {

/// Optimal; up to `largest_exact_schedule` subsystems.
Groups exact_sequence(const ScheduleProblem& problem);
Groups exact_groups(const ScheduleProblem& problem, double w);

/// Good; any number of subsystems.
Groups greedy_sequence(const ScheduleProblem& problem);
Groups greedy_groups(const ScheduleProblem& problem, double w);

}  // namespace concord
