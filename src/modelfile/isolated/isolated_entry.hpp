#pragma once

#include "network/model.hpp"
#include "subsystem/isolated/isolated.hpp"

namespace concord {

/// From here on the subsystem of the entry lives in a process of its own.
void isolate(SubsystemEntry& entry, Recipe recipe, const IsolationOptions& options);

}  // namespace concord
