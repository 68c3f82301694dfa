#pragma once

#include "concord/polynomial.hpp"

namespace concord {

/// Whether the slope at the beginning says nothing about the macro-step, of size h: where the
/// signal has left it long before the end, a cubic overshoots by 4/27 of h times it. No resolved
/// signal has a slope at one end that is six times both its mean slope and that at the other end:
/// parabolas reach three, cubics with an inflection at rest four. What h makes of the slope must be
/// more than a thousandth of the signal's `size`.
///
/// Beyond six, the mean of a cubic is further from that of a layer than that of the end value is.
/// Compare the limits that Fritsch and Carlson (1980) set to slopes of monotone cubics.
bool slope_misleads(Sample begin, Sample end, double h, double size);

}  // namespace concord
