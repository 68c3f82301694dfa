#include "expression/interpolation.hpp"

#include <cmath>

namespace concord {

std::vector<double> akima_slopes(std::span<const double> points, std::span<const double> values) {
  const std::size_t n = points.size();
  std::vector<double> lines(n + 3);  // of points i-2 to i-1 at i, two beyond either end
  for (std::size_t i = 0; i + 1 < n; ++i) {
    lines[i + 2] = (values[i + 1] - values[i]) / (points[i + 1] - points[i]);
  }
  if (n == 2) {
    return {lines[2], lines[2]};
  }
  lines[1] = 2.0 * lines[2] - lines[3];
  lines[0] = 2.0 * lines[1] - lines[2];
  lines[n + 1] = 2.0 * lines[n] - lines[n - 1];
  lines[n + 2] = 2.0 * lines[n + 1] - lines[n];
  std::vector<double> slopes(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double left = std::abs(lines[i + 1] - lines[i]);
    const double right = std::abs(lines[i + 3] - lines[i + 2]);
    slopes[i] = left + right > 0.0 ? (right * lines[i + 1] + left * lines[i + 2]) / (left + right)
                                   : 0.5 * (lines[i + 1] + lines[i + 2]);
  }
  return slopes;
}

std::array<double, 4> hermite_piece(double h, double from, double from_slope, double to,
                                    double to_slope) {
  const double line = (to - from) / h;
  return {from, from_slope, (3.0 * line - 2.0 * from_slope - to_slope) / h,
          (from_slope + to_slope - 2.0 * line) / (h * h)};
}

}  // namespace concord
