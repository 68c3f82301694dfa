#pragma once

#include "concord/polynomial.hpp"
#include "support/words.hpp"

namespace concord {

/// How an input is represented over a macro-step, as data. Where the coupling is solved, a hold
/// goes through a guess of the end of the macro-step; where it isn't, through the past alone.
struct Hold {
  /// From the accepted beginning to the guessed end over a macro-step of size h.
  using OfGuess = Polynomial (*)(Sample begin, Sample end, double h, bool begin_slope_known);
  /// From the guessed end alone.
  using OfEnd = Polynomial (*)(Sample end, double h);

  static const Hold hermite, quintic, zoh, foh, soh, extrapolate, extripol;

  std::string_view word;  ///< of -cosim_hold
  int degree = 0;         ///< up to which polynomials are reproduced; from the past: by default
  int unknowns = 1;       ///< of an input at t_{N+1}: value, and its first derivatives
  bool joins_smoothly = false;      ///< with value and slope, so that integrators may continue
  bool estimated = false;           ///< the estimators know inputs of this kind
  bool from_past = false;           ///< explicit methods have it
  bool begins_at_last_end = false;  ///< from the past, without a jump at t_N
  int highest_order = 3;            ///< of the extrapolation
  OfGuess of_guess = nullptr;       ///< null: takes no guess
  OfEnd of_end = nullptr;

  constexpr bool takes_guess() const { return of_guess != nullptr; }
  constexpr bool only_from_past() const { return from_past && !takes_guess(); }
  constexpr bool ends_with_slope() const { return unknowns > 1; }
  constexpr bool ends_with_curvature() const { return unknowns > 2; }
  /// Of an input at t_{N+1}, as estimators know them: values and slopes at least.
  constexpr int estimated_parts() const { return unknowns > 2 ? unknowns : 2; }
  constexpr bool is_constant() const { return degree == 0; }
  /// -cosim_hold_order where it isn't given.
  constexpr int usual_order() const { return only_from_past() ? degree : 0; }
  /// Whether the next macro-step begins with the slope that outputs have at the end of this one,
  /// which is no unknown.
  constexpr bool joins_slopes_of_outputs() const { return joins_smoothly && !ends_with_slope(); }

  friend bool operator==(const Hold& a, const Hold& b) { return a.word == b.word; }
};

/// All holds, default first.
std::span<const Hold> all_holds();

template <>
std::span<const WordOf<Hold>> words_of<Hold>();

/// What an extrapolation goes through: values, or values and slopes, at the last points.
enum class Extrapolation { lagrange, hermite };

template <>
inline std::span<const WordOf<Extrapolation>> words_of<Extrapolation>() {
  static constexpr WordOf<Extrapolation> words[] = {
      {"lagrange", Extrapolation::lagrange},
      {"hermite", Extrapolation::hermite},
  };
  return words;
}

/// The polynomial from the accepted `begin` to the guessed `end` over a macro-step of size h. With
/// `begin_slope_known` false (first macro-step), hermite drops the slope at the beginning
/// (Eguillon et al. 2022, eqs. (51), (52)), and quintic slope and curvature there; soh becomes foh.
/// `hold` takes a guess.
inline Polynomial from_guess(const Hold& hold, Sample begin, Sample end, double h,
                             bool begin_slope_known) {
  return hold.of_guess(begin, end, h, begin_slope_known);
}

/// The polynomial from the guessed end alone, where the past must not count: of all that the hold
/// ends with, value, slope and curvature.
inline Polynomial from_end(const Hold& hold, Sample end, double h) { return hold.of_end(end, h); }

}  // namespace concord
