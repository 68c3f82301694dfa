#pragma once

#include "concord/subsystem.hpp"

namespace concord {

/// Outputs of what stands for a constraint, by position: its unknown, gamma, unknown - gamma. Input
/// 0 is the unknown itself, the others are the outputs in the equation.
enum ConstraintOutput : std::size_t { constraint_value, constraint_residual, constraint_corrected };

}  // namespace concord
