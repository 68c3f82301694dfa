#pragma once

#include <array>
#include <cstddef>

#include "concord/polynomial.hpp"

namespace concord {

/// Value, slope and curvature, in the order of the unknowns of an input at t_{N+1}.
inline constexpr std::array<double Sample::*, 3> sample_parts = {
    &Sample::value, &Sample::derivative, &Sample::curvature};

/// 1, h, h^2: what makes the parts of a sample comparable.
inline std::array<double, 3> part_weights(double h) { return {1.0, h, h * h}; }

}  // namespace concord
