#pragma once

#include "concord/polynomial.hpp"

namespace concord {

/// Second derivatives at the ends of macro-steps from values and slopes there, up to O(h^2).
///
/// The cubic between the ends has u''_N = C = (6 (u_{N+1} - u_N)/h - 4 u'_N - 2 u'_{N+1})/h and
/// u''_N + u''_{N+1} = 2 (u'_{N+1} - u'_N)/h. That sum is what the quintic adds to the input's
/// integral, and it does not feel an error that all slopes share, as those of stiff states do; but
/// it would keep for ever what is wrong in u''_N, which is therefore drawn towards C by a part of
/// the difference in each macro-step.
struct EndCurvature {
  static constexpr double part = 0.25;

  // Of u''_{N+1}, by u_{N+1} and u'_{N+1}.
  static double by_value(double h) { return -6.0 * part / (h * h); }
  static double by_slope(double h) { return 2.0 * (1.0 + part) / h; }

  static double of(const Sample& begin, const Sample& end, double h) {
    const double cubic =
        (6.0 * (end.value - begin.value) / h - 4.0 * begin.derivative - 2.0 * end.derivative) / h;
    return 2.0 * (end.derivative - begin.derivative) / h - begin.curvature +
           part * (begin.curvature - cubic);
  }
};

}  // namespace concord
