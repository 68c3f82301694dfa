#pragma once

#include <filesystem>
#include <optional>
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
  std::string title = {};         ///< empty: none
  double begin = 0.0, end = 0.0;  ///< s, of the time axis
  PictureFormat format = PictureFormat::png;
  bool log_x = false, log_y = false;
  std::optional<double> width = {};  ///< mm, on paper; without it 1200 pixels, for a screen
  std::optional<double> font = {};   ///< points; without it 8 on paper, 12 on a screen
  bool letters = false;              ///< (a), (b) ... at panels
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

/// Curves over time, in panels by unit, as many pages as they need.
class TimePicture {
 public:
  TimePicture(PictureFrame frame, std::vector<Curve> curves);

  std::size_t curves() const { return curves_.size(); }
  std::size_t panels() const { return panels_.size(); }
  std::size_t pages() const;
  /// gnuplot commands with the data inline: of a page of its own, from 0, or of all of them one
  /// after the other, as PDF has them. Curves of one variable have one colour and one kind of
  /// marks, those of one run one kind of dashes, so that they are told apart in black and white,
  /// too; what lies on another curve is said and drawn thinner over it; where a curve swings faster
  /// than can be seen its envelope is drawn.
  std::string page(std::size_t page) const;
  std::string all_pages() const;

 private:
  struct Panel {
    std::string key;
    std::vector<std::size_t> curves;
  };
  struct Sheet;
  struct Note {
    std::string text;               ///< "on left.x", "envelope"
    std::optional<std::size_t> on;  ///< which of the panel's curves it lies on
  };

  void make_panels();
  Sheet sheet_of(std::size_t page) const;
  std::string body(const Sheet& sheet, std::size_t page) const;
  std::string panel_commands(const Sheet& sheet, std::size_t panel, bool last) const;
  std::string axis_label(const Panel& panel) const;
  std::vector<Note> notes(const Panel& panel) const;

  PictureFrame frame_;
  std::vector<Curve> curves_;
  std::vector<Panel> panels_;
};

/// Curves over another variable than time, in one panel.
std::string phase_script(const PictureFrame& frame, const std::vector<Curve>& curves,
                         const std::string& x_label, const std::string& y_label);

/// Draws all pages: those of PDF into the file, others into out.png, out_2.png ...; gives their
/// paths.
std::vector<std::filesystem::path> draw_over_time(const TimePicture& picture,
                                                  const std::filesystem::path& path);
/// The same paths, before they are drawn.
std::vector<std::filesystem::path> pages_of(const TimePicture& picture,
                                            const std::filesystem::path& path);

}  // namespace concord
