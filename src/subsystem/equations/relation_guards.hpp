#pragma once

#include <vector>

#include "subsystem/equations/smooth_equations.hpp"

namespace concord {

/// Of each relation when it counts, as an expression of discrete variables: where f, g or another
/// relation uses it, always; else where some condition does, what holds beside it included. In
/// `mode == 1 && v < 0` the sign of v says nothing as long as mode is another.
std::vector<Expression> relation_guards(const SmoothEquations& equations);

}  // namespace concord
