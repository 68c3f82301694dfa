#pragma once

#include "network/model.hpp"

namespace concord {

/// Makes one subsystem of each system that has `run:`, with what is within and the connections
/// between that. Call it when all connections lead from subsystem to subsystem. Throws InputError
/// with its location for what cannot be within.
void nest_systems(Model& model);

}  // namespace concord
