#pragma once

#include <optional>
#include <string>
#include <vector>

#include "subsystem/fmu/fmu.hpp"

namespace concord {

/// What trying an FMU has found; nothing where it claims nothing or could not be tried.
struct FmuProbe {
  std::optional<bool> rollback;     ///< the same step after a restore gives the same bits
  std::optional<bool> serializes;   ///< also after serialising and deserialising the state
  std::optional<bool> directional;  ///< derivatives agree with differences
  std::optional<int> input_order;   ///< highest input derivative that changes the outputs
  std::string crash;                ///< what was being done when it crashed; empty: it didn't
  std::vector<std::string> lines;   ///< claimed against found, for people
};

/// Tries the FMU's co-simulation or model exchange in a child process, for a minute at most.
FmuProbe probe_fmu(const FmuSetup& setup);

/// The setup without the capabilities that the probe refutes. Throws InputError where the FMU
/// crashes.
std::shared_ptr<const FmuSetup> without_refuted(const FmuSetup& setup, const FmuProbe& probe);

}  // namespace concord
