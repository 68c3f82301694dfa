#pragma once

#include "network/model.hpp"

namespace concord {

/// Puts a subsystem of kind `delay` into every connection with a delay. Call it once the subsystems
/// and their connections are complete, before connect_constraints. Connections whose ends are not
/// known, or that are not the only ones to their inputs, stay as they are: the network tells.
void connect_delays(Model& model);

}  // namespace concord
