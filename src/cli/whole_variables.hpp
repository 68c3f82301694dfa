#pragma once

#include <vector>

#include "export/whole_interface.hpp"
#include "simulation/simulation_core.hpp"

namespace concord {

/// The variables of an FMU of the whole model that the simulation has, which was started: inputs
/// that nothing feeds, all outputs, states, and the numbers that --set could change.
///
/// A start is that of the variable itself, where the FMU has it; names that mean several things
/// are told apart by _state, _start, _parameter at their ends.
std::vector<WholeVariable> whole_variables(SimulationCore& simulation);

}  // namespace concord
