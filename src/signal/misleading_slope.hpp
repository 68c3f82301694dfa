#pragma once

#include "concord/polynomial.hpp"

namespace concord {

/// Times the mean slope over a macro-step that no slope of a monotone signal is where the
/// macro-step resolves it.
inline constexpr double unresolved_slope = 6.0;

/// Whether the slope at the beginning says nothing about the macro-step, of size h, because the
/// signal is in a layer that it leaves long before the end: there the polynomial that begins with
/// it overshoots, a cubic by 4/27 of h times the slope. What h makes of the slope must be more than
/// a thousandth of the signal's `size`, and more than six times what the mean slope and that at the
/// end make: no monotone signal that is resolved has such a slope. Parabolas reach three, cubics
/// with an inflection at rest four (compare the limits that Fritsch and Carlson (1980) set to
/// slopes of monotone cubics).
///
/// A signal that swings may come back to where it began, and has any ratio then. A layer's slope
/// decays: u'' = -lambda u', and where the other conditions hold h lambda is more than six; cubics
/// that come back have at most 16/3, quintics of one sign, s (1 - s)^4, eight. So begin.curvature
/// must be as much as in a layer whose mean the end value tells better than the polynomial of this
/// `degree`, 3 or 5, does: from six with cubics on, from 8.25 with quintics. Not a number: it is
/// not known, and the slopes decide.
bool slope_misleads(Sample begin, Sample end, double h, double size, int degree);

}  // namespace concord
