#pragma once

#include "network/schedule/schedule.hpp"

namespace concord {

/// Optimal; up to `largest_exact_schedule` subsystems.
Groups exact_sequence(const ScheduleProblem& problem);
Groups exact_groups(const ScheduleProblem& problem, double w);

/// Good; any number of subsystems, in a time that grows like their connections.
Groups good_sequence(const ScheduleProblem& problem);
Groups good_groups(const ScheduleProblem& problem, double w);

}  // namespace concord
