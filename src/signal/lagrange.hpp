#pragma once

#include <cstddef>
#include <span>

namespace concord {

/// What values at the points count for at s, in the polynomial through them.
inline void find_lagrange_weights(std::span<const double> points, double s,
                                  std::span<double> weights) {
  for (std::size_t p = 0; p < points.size(); ++p) {
    weights[p] = 1.0;
    for (std::size_t q = 0; q < points.size(); ++q) {
      weights[p] *= q == p ? 1.0 : (s - points[q]) / (points[p] - points[q]);
    }
  }
}

}  // namespace concord
