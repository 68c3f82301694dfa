#pragma once

#include "network/model.hpp"

namespace concord {

/// What -cosim_scenario says happens to the model while it runs: each input, output or parameter
/// that is acted upon gets a subsystem of equations, between what feeds it and what it feeds, that
/// does it. Nothing without the option. Throws InputError.
void connect_scenario(Model& model);

}  // namespace concord
