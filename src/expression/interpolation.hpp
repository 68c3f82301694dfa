#pragma once

#include <array>
#include <span>
#include <vector>

namespace concord {

/// Between points: on the line, on the cubic of Akima (1970), or the value of the point before.
enum class Interpolation { linear, cubic, step };

/// Slopes of Akima (1970), "A new method of interpolation and smooth curve fitting", at the points:
/// those of the lines on both sides, each weighted by how much the line beyond the other one turns.
/// At least two points, ascending.
std::vector<double> akima_slopes(std::span<const double> points, std::span<const double> values);

/// Coefficients by powers of the distance from its begin of the cubic with these values and slopes
/// at both ends, h apart.
std::array<double, 4> hermite_piece(double h, double from, double from_slope, double to,
                                    double to_slope);

}  // namespace concord
