#pragma once

#include "network/model.hpp"

namespace concord {

/// Adds every sum that feeds an input as a subsystem of equations with its connections. Call it
/// once the subsystems are complete. Throws InputError with its location for terms that stand for
/// nothing, that are not a weight times an output, and whose units do not fit.
void connect_sums(Model& model);

}  // namespace concord
