#pragma once

#include <functional>
#include <string>
#include <vector>

#include "subsystem/fmu/setup.hpp"

namespace concord {

/// A state after one step, serialised, and all values one step later: bytes in hexadecimal digits.
struct SerializedState {
  std::string bytes, values;
};

/// What is tried of an FMU, each in a process of its own: whether it can be stepped, whether a step
/// can be repeated, also from a state that another process has serialised, and its derivatives.
enum class FmuTrial { stepping, rollback, serialization, input_derivatives, directional };

/// Those of rollback, input_derivatives and directional that the FMU claims.
std::vector<FmuTrial> claimed_trials(const FmuSetup& setup);

/// Makes one trial in this process, in which no instance of the FMU was made before; what needs
/// another fresh one goes into processes of its own (computed_apart). `tell` gets records "key
/// value": doing (what comes next), line (for people), rollback, serializes, directional (0 or 1),
/// input_order, state and values (a SerializedState; `serialization` gets that of `rollback`).
void run_probe_trial(FmuTrial trial, const FmuSetup& setup, const SerializedState& state,
                     const std::function<void(const std::string&)>& tell);

}  // namespace concord
