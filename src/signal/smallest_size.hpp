#pragma once

namespace concord {

/// Magnitudes below this are 0 (in any unit): what spreads along a chain of subsystems within a
/// macro-step falls off geometrically, down to numbers whose reciprocals are infinite.
constexpr double smallest_size = 1e-150;

}  // namespace concord
