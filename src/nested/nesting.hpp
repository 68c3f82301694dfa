#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "network/model.hpp"

namespace concord {

/// Why a subsystem cannot be integrated with others as one; empty where it can.
std::string why_not_within(const SubsystemEntry& entry);

/// Makes one subsystem of each system that has `run:`, with what is within and the connections
/// between that. Call it when all connections lead from subsystem to subsystem. Throws InputError
/// with its location for what cannot be within.
void nest_systems(Model& model, const std::function<Tolerance(double accuracy)>& integrators_for);

/// Makes one subsystem of each group of subsystems, given by their names, whose variables keep
/// theirs. None may be in two of them, nor be what why_not_within names.
void nest_groups(Model& model, const std::vector<PaceGroup>& groups);

}  // namespace concord
