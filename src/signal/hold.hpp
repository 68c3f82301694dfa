#pragma once

#include "concord/polynomial.hpp"

namespace concord {

/// How an input is represented over a macro-step. `zoh`, `foh`, `soh`, `hermite` take a guess of
/// the end of the step where the coupling is solved; `zoh` and `extrapolate` take the past alone
/// where it isn't.
enum class Hold { zoh, foh, soh, hermite, extrapolate, extripol };

/// What an extrapolation goes through: values, or values and slopes, at the last points.
enum class Extrapolation { lagrange, hermite };

/// How many unknowns an input has at t_{N+1} in an implicit coupling: its value, or value and
/// slope.
constexpr int unknowns_per_input(Hold hold) { return hold == Hold::hermite ? 2 : 1; }

/// Whether consecutive macro-steps join with value and slope, so that integrators may continue.
constexpr bool joins_smoothly(Hold hold) { return hold == Hold::hermite || hold == Hold::soh; }

/// The polynomial from the accepted `begin` to the guessed `end` over a macro-step of size h. With
/// `begin_slope_known` false (first macro-step), hermite drops the slope at the beginning
/// (Eguillon et al. 2022, eqs. (51), (52)); soh becomes foh. `hold` is zoh, foh, soh or hermite.
Polynomial from_guess(Hold hold, Sample begin, Sample end, double h, bool begin_slope_known);

/// The polynomial from the guessed end alone, where the past must not count: a line with the end's
/// value and slope for hermite, else constant.
Polynomial from_end(Hold hold, Sample end, double h);

}  // namespace concord
