#pragma once

#include "network/model.hpp"

namespace concord {

/// "weather.* -> rooms.*" becomes a connection for each output on the left whose name an input on
/// the right has, noted for the model; `[*]` on the right stands for each of the subsystems that
/// are repeated: "boiler.T -> room[*].supply". Of subsystems and systems. Throws InputError where
/// nothing is connected.
void connect_by_name(Model& model);

}  // namespace concord
