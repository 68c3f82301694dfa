#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "record/results_reader.hpp"

namespace concord {

struct Curve {
  std::string name, unit;
  std::vector<std::pair<double, double>> points;  ///< time in s, value
};

/// The points to draw of a long series: at most a few thousand, with the first, last, smallest and
/// largest of every stretch of time. Values that are not finite are left out; where all others are
/// drawn, a point that is no number interrupts the line in their place.
std::vector<std::pair<double, double>> thin_out(std::span<const double> time,
                                                std::span<const double> values);

/// Cuts `variables` down to what one picture can show, in panels by unit; gives the names dropped.
std::vector<std::string> drop_excess(std::vector<RecordedVariable>& variables);

/// Colours of curves, told apart by everybody; from the first one again after the last.
const char* curve_colour(std::size_t curve);

/// gnuplot commands for curves over [begin, end], in panels by unit, with the data inline.
std::string picture_script(const std::string& title, double begin, double end,
                           const std::vector<Curve>& curves);

}  // namespace concord
