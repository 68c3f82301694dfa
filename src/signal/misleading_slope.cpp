#include "signal/misleading_slope.hpp"

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

/// h lambda of layers that are told better by their end than by polynomials of this degree.
constexpr double unresolved_decay(int degree) { return degree < 5 ? 6.0 : 8.25; }

}  // namespace

bool slope_misleads(Sample begin, Sample end, double h, double size, int degree) {
  constexpr double noticeable = 1e-3;
  const double slope = h * std::abs(begin.derivative);
  const double seen = std::max(std::abs(end.value - begin.value), h * std::abs(end.derivative));
  const double decay = -h * h * std::copysign(1.0, begin.derivative) * begin.curvature;
  return slope > unresolved_slope * seen && slope > noticeable * size &&
         !(decay < unresolved_decay(degree) * slope);
}

}  // namespace concord
