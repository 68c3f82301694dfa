#pragma once

#include <functional>
#include <string>

#include "subsystem/fmu/setup.hpp"

namespace concord {

/// A state after one step, serialised, and all values one step later: bytes in hexadecimal digits.
struct SerializedState {
  std::string bytes, values;
};

/// Tries what the FMU claims, in this process. `tell` gets lines "key value": doing (what comes
/// next), line (for people), rollback, serializes, directional (0 or 1), input_order, state and
/// values (a SerializedState).
void run_probe_trials(const FmuSetup& setup, const std::function<void(const std::string&)>& tell);

/// Goes on from the state of another process, and tells as above.
void continue_probe(const FmuSetup& setup, const SerializedState& state,
                    const std::function<void(const std::string&)>& tell);

}  // namespace concord
