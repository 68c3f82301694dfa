#pragma once

#include "network/model.hpp"

namespace concord {

/// Adds every constraint of the model as a subsystem with its connections. Call it once the
/// subsystems and their connections are complete. Throws InputError with its location for unknown
/// names, what is no equation, a factor of zero, and an unknown named like a subsystem.
void connect_constraints(Model& model);

}  // namespace concord
