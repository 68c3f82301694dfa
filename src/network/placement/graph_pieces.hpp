#pragma once

#include <optional>
#include <vector>

#include "network/schedule/schedule.hpp"

namespace concord {

/// The piece of each subsystem, of so many pieces of about equal effort with few signals between
/// them, by PETSc's MatPartitioning, the same each time; nothing where PETSc has no
/// partitioner that takes its indices.
std::optional<std::vector<int>> pieces_of_graph(const ScheduleProblem& problem, int pieces);

}  // namespace concord
