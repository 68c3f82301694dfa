#pragma once

#include "network/model.hpp"

namespace concord {

/// Clocks are connected with clocks, as they are: what else is connected with one is refused. Says
/// of each triggered clock that nothing is connected with that it never ticks. Once connections
/// have the names of variables. Throws InputError.
void check_clocks(Model& model);

}  // namespace concord
