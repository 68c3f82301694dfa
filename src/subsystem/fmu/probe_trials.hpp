#pragma once

#include <functional>
#include <string>

#include "subsystem/fmu/setup.hpp"

namespace concord {

/// Tries what the FMU claims, in this process. `tell` gets lines "key value": doing (what comes
/// next), line (for people), rollback, serializes, directional (0 or 1), input_order.
void run_probe_trials(const FmuSetup& setup, const std::function<void(const std::string&)>& tell);

}  // namespace concord
