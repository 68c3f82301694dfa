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

/// The file in resources/ of FMUs that have Concord itself inside.
inline constexpr const char* whole_model_file = "concord.json";

/// Whether a child process may run it: not one of several ranks, if the FMU has MPI inside, which
/// there would take what is sent to its parent.
bool can_be_tried(const FmuSetup& setup);

/// Tries the FMU's co-simulation or model exchange in a child process, for a minute at most.
FmuProbe probe_fmu(const FmuSetup& setup);

/// The setup without the capabilities that the probe refutes. Throws InputError where the FMU
/// crashes.
std::shared_ptr<const FmuSetup> without_refuted(const FmuSetup& setup, const FmuProbe& probe);

}  // namespace concord
