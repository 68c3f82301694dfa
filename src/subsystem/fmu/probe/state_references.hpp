#pragma once

#include <cstdint>
#include <vector>

namespace concord {

struct FmuSetup;

/// Which variables the states of an FMU of FMI 1.0 are, which only an instance knows: one in a
/// child process is asked, once per FMU. Empty where it does not say, or there is nothing to ask.
/// Throws SimulationError where no child process can be made.
std::vector<std::uint32_t> state_references(const FmuSetup& setup);

}  // namespace concord
