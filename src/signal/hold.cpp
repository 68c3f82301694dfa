#include "signal/hold.hpp"

namespace concord {
namespace {

Polynomial constant(Sample end, double /*h*/) { return {{end.value, 0.0, 0.0, 0.0}}; }

/// With the end's value and slope.
Polynomial tangent(Sample end, double h) {
  return {{end.value - h * end.derivative, end.derivative, 0.0, 0.0}};
}

/// With the end's value, slope and curvature.
Polynomial parabola(Sample end, double h) {
  return Polynomial{{end.value, end.derivative, 0.5 * end.curvature}}.moved_to(-h);
}

Polynomial zero_order(Sample /*begin*/, Sample end, double h, bool /*begin_slope_known*/) {
  return constant(end, h);
}

Polynomial line(Sample begin, Sample end, double h, bool /*begin_slope_known*/) {
  return {{begin.value, (end.value - begin.value) / h, 0.0, 0.0}};
}

/// Value and slope at the beginning, value at the end (Eguillon et al. 2019, fig. 7).
Polynomial second_order(Sample begin, Sample end, double h, bool begin_slope_known) {
  if (!begin_slope_known) {
    return line(begin, end, h, false);
  }
  const double mean_slope = (end.value - begin.value) / h;
  return {{begin.value, begin.derivative, (mean_slope - begin.derivative) / h, 0.0}};
}

/// Eguillon et al. 2022, eq. (52): the slope at the beginning is not known.
Polynomial three_constraints(double v1, Sample end, double h) {
  const double mean_slope = (end.value - v1) / h;
  return {{v1, 2.0 * mean_slope - end.derivative, (end.derivative - mean_slope) / h, 0.0}};
}

/// Eguillon et al. 2022, eq. (51).
Polynomial third_order(Sample begin, Sample end, double h, bool begin_slope_known) {
  if (!begin_slope_known) {
    return three_constraints(begin.value, end, h);
  }
  const double mean_slope = (end.value - begin.value) / h;
  const double d1 = begin.derivative;
  const double d2 = end.derivative;
  return {{begin.value, d1, (3.0 * mean_slope - 2.0 * d1 - d2) / h,
           (d1 + d2 - 2.0 * mean_slope) / (h * h)}};
}

/// Values, slopes and curvatures at both ends: the Hermite interpolant of degree 5.
Polynomial fifth_order(Sample begin, Sample end, double h, bool begin_slope_known) {
  const double v = end.value - begin.value;
  const double d2 = h * end.derivative;
  const double c2 = h * h * end.curvature;
  Polynomial p;
  if (begin_slope_known) {
    const double d1 = h * begin.derivative;
    const double c1 = h * h * begin.curvature;
    p.c = {begin.value,
           d1,
           0.5 * c1,
           10.0 * v - 6.0 * d1 - 4.0 * d2 - 1.5 * c1 + 0.5 * c2,
           -15.0 * v + 8.0 * d1 + 7.0 * d2 + 1.5 * c1 - c2,
           6.0 * v - 3.0 * d1 - 3.0 * d2 - 0.5 * c1 + 0.5 * c2};
  } else {
    p.c = {begin.value, 3.0 * v - 2.0 * d2 + 0.5 * c2, -3.0 * v + 3.0 * d2 - c2, v - d2 + 0.5 * c2};
  }
  double power = h;
  for (std::size_t k = 1; k < p.c.size(); ++k, power *= h) {
    p.c[k] /= power;
  }
  return p;
}

}  // namespace

constexpr Hold Hold::hermite{.word = "hermite",
                             .degree = 3,
                             .unknowns = 2,
                             .joins_smoothly = true,
                             .estimated = true,
                             .of_guess = third_order,
                             .of_end = tangent};
constexpr Hold Hold::quintic{.word = "quintic",
                             .degree = 5,
                             .unknowns = 3,
                             .joins_smoothly = true,
                             .estimated = true,
                             .of_guess = fifth_order,
                             .of_end = parabola};
constexpr Hold Hold::zoh{
    .word = "zoh", .from_past = true, .of_guess = zero_order, .of_end = constant};
constexpr Hold Hold::foh{.word = "foh", .degree = 1, .of_guess = line, .of_end = constant};
constexpr Hold Hold::soh{.word = "soh",
                         .degree = 2,
                         .joins_smoothly = true,
                         .of_guess = second_order,
                         .of_end = constant};
constexpr Hold Hold::extrapolate{.word = "extrapolate", .degree = 1, .from_past = true};
constexpr Hold Hold::extripol{.word = "extripol",
                              .degree = 1,
                              .from_past = true,
                              .begins_at_last_end = true,
                              .highest_order = 1};

namespace {

constexpr Hold holds[] = {Hold::hermite, Hold::quintic,     Hold::zoh,     Hold::foh,
                          Hold::soh,     Hold::extrapolate, Hold::extripol};

}  // namespace

std::span<const Hold> all_holds() { return holds; }

template <>
std::span<const WordOf<Hold>> words_of<Hold>() {
  static const auto words = words_of_entries<Hold>(holds);
  return words;
}

}  // namespace concord
