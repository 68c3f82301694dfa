#pragma once

namespace concord {

/// Magnitudes below this are 0, where no nominal value says otherwise: what spreads along a chain
/// of subsystems within a macro-step falls off geometrically, down to numbers whose reciprocals are
/// infinite.
constexpr double smallest_size = 1e-40;

}  // namespace concord
