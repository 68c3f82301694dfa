#pragma once

#include "network/model.hpp"

namespace concord {

/// Leads what is connected to the inputs and outputs of systems to the subsystems within. Call it
/// once the subsystems are complete. Throws InputError with its location for inputs and outputs
/// that a system has not, and for those that lead nowhere.
void connect_systems(Model& model);

}  // namespace concord
