#include "signal/misleading_slope.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

bool slope_misleads(Sample begin, Sample end, double h, double size) {
  constexpr double unresolved = 6.0;
  constexpr double noticeable = 1e-3;
  const double slope = h * std::abs(begin.derivative);
  const double seen = std::max(std::abs(end.value - begin.value), h * std::abs(end.derivative));
  return slope > unresolved * seen && slope > noticeable * size;
}

}  // namespace concord
