#include "signal/hold.hpp"

namespace concord {
namespace {

Polynomial line(double v1, double v2, double h) { return {{v1, (v2 - v1) / h, 0.0, 0.0}}; }

/// Value and slope at the beginning, value at the end (Eguillon et al. 2019, fig. 7).
Polynomial second_order(Sample begin, double v2, double h) {
  const double mean_slope = (v2 - begin.value) / h;
  return {{begin.value, begin.derivative, (mean_slope - begin.derivative) / h, 0.0}};
}

/// Eguillon et al. 2022, eq. (51).
Polynomial third_order(Sample begin, Sample end, double h) {
  const double mean_slope = (end.value - begin.value) / h;
  const double d1 = begin.derivative;
  const double d2 = end.derivative;
  return {{begin.value, d1, (3.0 * mean_slope - 2.0 * d1 - d2) / h,
           (d1 + d2 - 2.0 * mean_slope) / (h * h)}};
}

/// Eguillon et al. 2022, eq. (52): the slope at the beginning is not known.
Polynomial three_constraints(double v1, Sample end, double h) {
  const double mean_slope = (end.value - v1) / h;
  return {{v1, 2.0 * mean_slope - end.derivative, (end.derivative - mean_slope) / h, 0.0}};
}

}  // namespace

Polynomial from_guess(Hold hold, Sample begin, Sample end, double h, bool begin_slope_known) {
  switch (hold) {
    case Hold::zoh:
      return {{end.value, 0.0, 0.0, 0.0}};
    case Hold::soh:
      return begin_slope_known ? second_order(begin, end.value, h)
                               : line(begin.value, end.value, h);
    case Hold::hermite:
      return begin_slope_known ? third_order(begin, end, h)
                               : three_constraints(begin.value, end, h);
    default:
      return line(begin.value, end.value, h);
  }
}

Polynomial from_end(Hold hold, Sample end, double h) {
  return hold == Hold::hermite
             ? Polynomial{{end.value - h * end.derivative, end.derivative, 0.0, 0.0}}
             : Polynomial{{end.value, 0.0, 0.0, 0.0}};
}

}  // namespace concord
