#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/drawing.hpp"
#include "record/results_reader.hpp"

namespace concord {

struct Curve {
  std::string name, unit;
  std::vector<std::pair<double, double>> points;  ///< time in s, value
  std::string run = {};                           ///< whose; empty where there is only one
  std::size_t dash = 0;                           ///< the same for all curves of a run
  bool measured = false;                          ///< points without a line between them
};

/// What holds for a whole picture.
struct PictureFrame {
  std::string title = {};
  double begin = 0.0, end = 0.0;  ///< s, of the time axis
  PictureFormat format = PictureFormat::png;
  bool log_x = false, log_y = false;
};

/// The points to draw of a long series: the first, last, smallest and largest of every stretch of
/// time. Values that are not finite are left out; where all others are
/// drawn, a point that is no number interrupts the line in their place.
std::vector<std::pair<double, double>> thin_out(std::span<const double> time,
                                                std::span<const double> values,
                                                std::size_t stretches = 2000);

/// Cuts `variables`, of that many runs each, down to what one picture can show, in panels by unit;
/// gives the names dropped.
std::vector<std::string> drop_excess(std::vector<RecordedVariable>& variables,
                                     std::size_t runs = 1);

/// Colours of curves, told apart by everybody; from the first one again after the last.
const char* curve_colour(std::size_t curve);

/// gnuplot commands that begin a picture of this size: terminal, fonts, axes.
std::string picture_begin(const PictureFrame& frame, int width, int height);

/// gnuplot commands for curves over time, in panels by unit, with the data inline. Curves of one
/// variable have one colour, those of one run one kind of dashes.
std::string picture_script(const PictureFrame& frame, const std::vector<Curve>& curves);

/// The same for curves over another variable than time, in one panel.
std::string phase_script(const PictureFrame& frame, const std::vector<Curve>& curves,
                         const std::string& x_label, const std::string& y_label);

}  // namespace concord
