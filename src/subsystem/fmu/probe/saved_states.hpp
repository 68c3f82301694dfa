#pragma once

#include <memory>
#include <string>

namespace concord {

struct FmuSetup;

/// Of the run whose saved states are tried.
struct TriedSteps {
  double start = 0.0, stop = 1.0, size = 1e-3;
  unsigned longest = 60;  ///< s of wall time
};

/// Why a co-simulation FMU cannot be set back, whatever it claims; empty: nothing speaks against
/// its claim. A child process makes some steps of an instance, sets it back and makes them again:
/// what then differs by half of what had moved was not restored (an integrator that begins anew
/// after a restore gives other digits, which refutes nothing). An FMU that saves or restores with
/// an error, a crash or without an end cannot be set back either.
std::string refuted_states(const FmuSetup& setup, const TriedSteps& steps);

}  // namespace concord
