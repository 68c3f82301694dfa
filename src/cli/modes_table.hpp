#pragma once

#include <string>
#include <vector>

#include "simulation/linear_system.hpp"

namespace concord {

/// Eigenvalues in 1/s, their frequencies in Hz and damping ratios, and the states that take part in
/// their modes.
void print_modes(const std::vector<std::string>& states, const Modes& modes);

}  // namespace concord
