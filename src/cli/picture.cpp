#include "cli/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "cli/drawing.hpp"

namespace concord {
namespace {

constexpr std::size_t most_panels = 6;
constexpr std::size_t most_curves_per_panel = 8;
constexpr double pixels_per_inch = 96.0, points_per_inch = 72.0, mm_per_inch = 25.4;
constexpr double print_pixels_per_inch = 300.0;

// Okabe and Ito's colours, told apart by everybody; the yellow darkened for white paper.
constexpr std::array colours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                "#E69F00", "#56B4E9", "#000000", "#B8A800"};
// gnuplot's numbers: ring, filled triangle, square, filled ring, triangle, filled square, ...
constexpr std::array marks = {6, 9, 4, 7, 8, 5, 12, 11};
static_assert(colours.size() == most_curves_per_panel && marks.size() == most_curves_per_panel);

std::string after_dot(const std::string& name) {
  const auto dot = name.find_last_of('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

/// Variables with one key share a panel.
std::string panel_key(const std::string& name, const std::string& unit) {
  return unit.empty() ? "name " + after_dot(name) : "unit " + unit;
}

/// "left.x", or of several runs "left.x, coarse".
std::string legend_of(const Curve& curve) {
  return curve.run.empty() ? curve.name : curve.name + ", " + curve.run;
}

std::string form(const char* pattern, auto... values) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

/// Half as dark.
std::string pale(const char* colour) {
  unsigned red = 0, green = 0, blue = 0;
  std::sscanf(colour, "#%2x%2x%2x", &red, &green, &blue);
  const auto paler = [](unsigned part) { return (part + 255U) / 2U; };
  return form("#%02X%02X%02X", paler(red), paler(green), paler(blue));
}

/// What time is shown in.
struct TimeUnit {
  const char* name;
  double seconds;
};

TimeUnit time_unit(double duration) {
  constexpr TimeUnit units[] = {{"d", 86400.0}, {"h", 3600.0}, {"min", 60.0}};
  constexpr double least = 3.0;  // of the unit
  for (const TimeUnit& unit : units)
    if (duration >= least * unit.seconds) return unit;
  return {"s", 1.0};
}

using Points = std::vector<std::pair<double, double>>;

/// On the line through the points; nothing outside of them, in their gaps, and where they jump.
std::optional<double> value_at(const Points& points, double time) {
  const auto after = std::upper_bound(
      points.begin(), points.end(), time,
      [](double t, const std::pair<double, double>& point) { return t < point.first; });
  if (after == points.begin()) return std::nullopt;
  const auto before = std::prev(after);
  if (before->first == time || after == points.end()) {
    const bool jumps = before != points.begin() && std::prev(before)->first == time;
    if (jumps || before->first != time || std::isnan(before->second)) return std::nullopt;
    return before->second;
  }
  const double share = (time - before->first) / (after->first - before->first);
  const double value = before->second + share * (after->second - before->second);
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

/// Whether the one is hidden by the other where both are.
bool coincide(const Points& a, const Points& b, double range) {
  constexpr double line = 0.004;  // of the range: about the width of a line
  std::size_t compared = 0;
  for (const auto& [time, value] : a) {
    const auto other = value_at(b, time);
    if (!other || std::isnan(value) || !value_at(a, time)) continue;
    if (std::abs(value - *other) > line * range) return false;
    ++compared;
  }
  return 2 * compared >= a.size() && !a.empty();
}

/// A curve as it is drawn: lines, and bands between smallest and largest values where it swings
/// faster than lines can show.
struct Drawn {
  Points line;
  struct Edge {
    double time, low, high;
  };
  std::vector<std::vector<Edge>> bands;
};

Drawn drawn_of(const Curve& curve, double begin, double end) {
  constexpr std::size_t stretches = 240, least = 4, turns_to_see = 3;
  Drawn drawn;
  if (curve.measured || curve.points.size() < 4 * stretches || !(end > begin)) {
    drawn.line = curve.points;
    return drawn;
  }
  const auto place = [&](double time) {
    const double share = (time - begin) / (end - begin) * static_cast<double>(stretches);
    return static_cast<std::size_t>(std::clamp(share, 0.0, static_cast<double>(stretches - 1)));
  };
  std::vector<std::vector<std::size_t>> in(stretches);
  for (std::size_t i = 0; i < curve.points.size(); ++i)
    in[place(curve.points[i].first)].push_back(i);
  const auto is_fast = [&](const std::vector<std::size_t>& rows) {
    std::size_t turns = 0;
    for (std::size_t n = 2; n < rows.size(); ++n) {
      const double a = curve.points[rows[n - 2]].second, b = curve.points[rows[n - 1]].second,
                   c = curve.points[rows[n]].second;
      if (std::isnan(a + b + c)) return false;
      turns += (b - a) * (c - b) < 0.0 ? 1 : 0;
    }
    return turns >= turns_to_see;
  };
  const auto add_lines = [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k)
      for (const std::size_t i : in[k]) drawn.line.push_back(curve.points[i]);
  };
  for (std::size_t k = 0; k < stretches;) {
    std::size_t last = k;
    while (last < stretches && is_fast(in[last])) ++last;
    if (last - k < least) {
      add_lines(k, std::max(last, k + 1));
      k = std::max(last, k + 1);
      continue;
    }
    auto& band = drawn.bands.emplace_back();
    for (; k < last; ++k) {
      double low = std::numeric_limits<double>::infinity(), high = -low, time = 0.0;
      for (const std::size_t i : in[k]) {
        low = std::min(low, curve.points[i].second);
        high = std::max(high, curve.points[i].second);
        time += curve.points[i].first / static_cast<double>(in[k].size());
      }
      band.push_back({time, low, high});
    }
    if (!drawn.line.empty())  // a gap
      drawn.line.emplace_back(band.front().time, std::numeric_limits<double>::quiet_NaN());
  }
  return drawn;
}

std::string block_of(const std::string& name, const Points& points, double unit) {
  std::string text = "$" + name + " << END_OF_CURVE\n";
  for (const auto& [time, value] : points)
    text += std::isnan(value) ? "\n" : form("%.12g %.12g\n", time / unit, value);
  return text + "END_OF_CURVE\n";
}

std::string bands_block(const std::string& name, const Drawn& drawn, double unit) {
  std::string text = "$" + name + " << END_OF_CURVE\n";
  for (const auto& band : drawn.bands) {
    for (const auto& edge : band)
      text += form("%.12g %.12g %.12g\n", edge.time / unit, edge.low, edge.high);
    text += "\n";
  }
  return text + "END_OF_CURVE\n";
}

/// A few places of a curve, others for the next one.
Points marks_of(const Points& line, std::size_t number, double begin, double end) {
  constexpr double count = 6.0, shift = 0.13;
  Points found;
  for (double i = 0.0; i < count; i += 1.0) {
    const double share = (i + 0.3 + shift * static_cast<double>(number % 8)) / (count + 0.6);
    const double time = begin + share * (end - begin);
    if (const auto value = value_at(line, time)) found.emplace_back(time, *value);
  }
  return found;
}

/// What one terminal needs to draw so many pixels of 1/96 inch.
std::string terminal(const PictureFrame& frame, double width, double height, double font) {
  const std::string looks = form(" font 'sans,%g' background '#ffffff'\n", font);
  const bool paper = frame.width.has_value();
  const double weight = paper ? font / 13.0 : 1.0;  // of lines, as of letters
  switch (frame.format) {
    case PictureFormat::svg:
      return form("set terminal svg size %.0f,%.0f", width, height) + looks;
    case PictureFormat::pdf:
      return form("set terminal pdfcairo size %.4fin,%.4fin%s", width / pixels_per_inch,
                  height / pixels_per_inch,
                  paper ? form(" fontscale 0.75 linewidth %.3g pointscale %.3g", weight, weight)
                              .c_str()
                        : "") +
             looks;
    case PictureFormat::png:
      break;
  }
  const double finer = paper ? print_pixels_per_inch / pixels_per_inch : 1.0;
  return form("set terminal pngcairo size %.0f,%.0f fontscale %.4g linewidth %.4g pointscale %.4g",
              width * finer, height * finer, finer, weight * finer, weight * finer) +
         looks;
}

/// Fonts, colours and axes. Room above and below curves is for linear axes only.
std::string axes(const PictureFrame& frame) {
  return std::string("set encoding utf8\nset minussign\nset border 3 lc rgb '#606060'\n") +
         "set tics nomirror textcolor rgb '#303030'\n"
         "set grid lc rgb '#dddddd' lt 1 lw 1\nset style data lines\n"
         "set key outside right top Left reverse samplen 3 spacing 1.2 noenhanced\n" +
         (frame.log_y ? "set logscale y\nset format y '%g'\n"
                      : "set offsets 0, 0, graph 0.06, graph 0.06\n") +
         (frame.log_x ? "set logscale x\n" : "");
}

double font_of(const PictureFrame& frame) { return frame.font.value_or(frame.width ? 8.0 : 12.0); }

double width_of(const PictureFrame& frame) {
  return frame.width ? *frame.width / mm_per_inch * pixels_per_inch : 1200.0;
}

/// Of the finite values of a stretch, the first one by `better`; its begin without any.
template <class Better>
std::size_t extreme(std::span<const double> values, std::size_t begin, std::size_t end,
                    Better better) {
  std::size_t best = begin;
  for (std::size_t i = begin; i < end; ++i)
    if (std::isfinite(values[i]) &&
        (!std::isfinite(values[best]) || better(values[i], values[best])))
      best = i;
  return best;
}

}  // namespace

const char* curve_colour(std::size_t curve) { return colours[curve % colours.size()]; }

std::vector<std::pair<double, double>> thin_out(std::span<const double> time,
                                                std::span<const double> values,
                                                std::size_t stretches) {
  const std::size_t rows = time.size();
  const std::size_t stride = rows <= 4 * stretches ? 1 : (rows + stretches - 1) / stretches;
  std::vector<std::pair<double, double>> points;
  for (std::size_t begin = 0; begin < rows; begin += stride) {
    const std::size_t end = std::min(begin + stride, rows);
    std::array<std::size_t, 4> keep{begin, extreme(values, begin, end, std::less<>()),
                                    extreme(values, begin, end, std::greater<>()), end - 1};
    std::sort(keep.begin(), keep.end());
    const auto last = std::unique(keep.begin(), keep.end());
    for (auto i = keep.begin(); i != last; ++i) {
      if (std::isfinite(values[*i]))
        points.emplace_back(time[*i], values[*i]);
      else if (stride == 1 && !points.empty())
        points.emplace_back(time[*i], std::numeric_limits<double>::quiet_NaN());
    }
  }
  return points;
}

std::vector<std::string> drop_excess(std::vector<RecordedVariable>& variables, std::size_t runs) {
  const std::size_t most = std::max<std::size_t>(1, most_curves_per_panel / runs);
  std::vector<std::pair<std::string, std::size_t>> panels;
  std::vector<std::string> dropped;
  std::erase_if(variables, [&](const RecordedVariable& v) {
    const std::string key = panel_key(v.name, v.display);
    auto panel =
        std::find_if(panels.begin(), panels.end(), [&](const auto& p) { return p.first == key; });
    if (panel == panels.end() && panels.size() < most_panels)
      panel = panels.insert(panel, {key, 0});
    const bool drop = panel == panels.end() || panel->second == most;
    if (drop)
      dropped.push_back(v.name);
    else
      ++panel->second;
    return drop;
  });
  return dropped;
}

std::string picture_begin(const PictureFrame& frame, int width, int height) {
  return terminal(frame, width, height, font_of(frame)) + axes(frame);
}

/// Where panels are on a page, in pixels of 1/96 inch.
struct TimePicture::Sheet {
  double width, height, em, font;
  bool legend_above;
  double left, right;
  std::vector<std::pair<double, double>> panels;  ///< upper and lower end, from above
  std::size_t first = 0;                          ///< panel
  std::size_t columns = 1;                        ///< of a legend above

  static double characters(std::size_t count, double em) {
    return 0.56 * em * static_cast<double>(count);
  }
};

TimePicture::TimePicture(PictureFrame frame, std::vector<Curve> curves)
    : frame_(std::move(frame)), curves_(std::move(curves)) {
  make_panels();
}

/// Panels that are full are followed by others of the same kind; curves of one variable stay
/// together.
void TimePicture::make_panels() {
  const auto variables = [&](const Panel& panel) {
    std::vector<std::string> names;
    for (const std::size_t i : panel.curves)
      if (std::ranges::find(names, curves_[i].name) == names.end())
        names.push_back(curves_[i].name);
    return names;
  };
  std::size_t runs = 1;
  for (const Curve& curve : curves_) runs = std::max(runs, curve.dash + 1);
  const std::size_t most = std::max<std::size_t>(1, most_curves_per_panel / runs);
  for (std::size_t i = 0; i < curves_.size(); ++i) {
    const std::string key = panel_key(curves_[i].name, curves_[i].unit);
    const auto takes = [&](const Panel& panel) {
      if (panel.key != key) return false;
      const auto names = variables(panel);
      return names.size() < most || std::ranges::find(names, curves_[i].name) != names.end();
    };
    auto panel = std::ranges::find_if(panels_, takes);
    if (panel == panels_.end()) {
      auto behind = panels_.end();
      for (auto other = panels_.begin(); other != panels_.end(); ++other)
        if (other->key == key) behind = std::next(other);
      panel = panels_.insert(behind, Panel{key, {}});
    }
    panel->curves.push_back(i);
  }
}

std::size_t TimePicture::pages() const {
  return std::max<std::size_t>(1, (panels_.size() + most_panels - 1) / most_panels);
}

/// "x [m]" when all curves are called x, else "[m]".
std::string TimePicture::axis_label(const Panel& panel) const {
  const Curve& first = curves_[panel.curves.front()];
  const bool one_name = std::all_of(panel.curves.begin(), panel.curves.end(), [&](std::size_t i) {
    return after_dot(curves_[i].name) == after_dot(first.name);
  });
  const std::string unit = first.unit.empty() ? "" : "[" + first.unit + "]";
  const std::string name = one_name ? after_dot(first.name) : "";
  return name + (name.empty() || unit.empty() ? "" : " ") + unit;
}

/// What else is to be said of each curve.
std::vector<TimePicture::Note> TimePicture::notes(const Panel& panel) const {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const std::size_t i : panel.curves)
    for (const auto& [time, value] : curves_[i].points)
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  std::vector<Note> said;
  for (std::size_t n = 0; n < panel.curves.size(); ++n) {
    const Curve& curve = curves_[panel.curves[n]];
    const bool band = !frame_.log_y && !drawn_of(curve, frame_.begin, frame_.end).bands.empty();
    Note note{band ? "envelope" : "", {}};
    for (std::size_t m = 0; m < n && !curve.measured && !note.on; ++m) {
      const Curve& other = curves_[panel.curves[m]];
      if (other.measured || said[m].on || !coincide(curve.points, other.points, high - low))
        continue;
      note = {"on " + (other.name == curve.name ? other.run : legend_of(other)), m};
    }
    said.push_back(note);
  }
  return said;
}

std::string TimePicture::page(std::size_t number) const { return body(sheet_of(number), number); }

TimePicture::Sheet TimePicture::sheet_of(std::size_t number) const {
  constexpr double narrow = 600.0;
  Sheet sheet{};
  sheet.font = font_of(frame_);
  sheet.em = sheet.font / points_per_inch * pixels_per_inch;
  sheet.width = width_of(frame_);
  sheet.legend_above = sheet.width < narrow;
  sheet.first = number * most_panels;
  const std::size_t last = std::min(sheet.first + most_panels, panels_.size());
  std::size_t longest = 0;
  std::vector<std::size_t> entries;
  for (std::size_t p = sheet.first; p < last; ++p) {
    const auto said = notes(panels_[p]);
    std::size_t count = 0;
    for (std::size_t n = 0; n < said.size(); ++n) {
      longest = std::max(
          {longest, legend_of(curves_[panels_[p].curves[n]]).size(), said[n].text.size() + 3});
      count += said[n].text.empty() ? 1 : 2;
    }
    entries.push_back(count);
  }
  const double entry = Sheet::characters(longest, sheet.em) + 4.5 * sheet.em;
  sheet.left = 7.2 * sheet.em;
  sheet.right =
      sheet.legend_above ? 1.2 * sheet.em : std::clamp(entry, 0.1 * sheet.width, 0.4 * sheet.width);
  const double across = sheet.width - sheet.left - sheet.right;
  sheet.columns = std::max<std::size_t>(1, static_cast<std::size_t>(across / entry));
  const double panel = frame_.width ? std::clamp(0.42 * sheet.width, 110.0, 230.0) : 274.0;
  double y = frame_.title.empty() ? 0.8 * sheet.em : 3.0 * sheet.em;
  for (std::size_t p = sheet.first; p < last; ++p) {
    const auto rows =
        static_cast<double>((entries[p - sheet.first] + sheet.columns - 1) / sheet.columns);
    if (sheet.legend_above) y += 1.35 * sheet.em * rows;
    sheet.panels.emplace_back(y, y + panel);
    y += panel + 1.6 * sheet.em;
  }
  sheet.height = y + 2.3 * sheet.em;
  return sheet;
}

std::string TimePicture::body(const Sheet& sheet, std::size_t number) const {
  const double slack = frame_.begin == frame_.end ? 0.5 : 0.0;
  const TimeUnit unit = time_unit(frame_.end - frame_.begin);
  const std::string title = frame_.title + (pages() > 1 && !frame_.title.empty()
                                                ? form(" (%zu of %zu)", number + 1, pages())
                                                : std::string());
  std::string text = terminal(frame_, sheet.width, sheet.height, sheet.font) + axes(frame_) +
                     form("set xrange [%.17g:%.17g]\n", (frame_.begin - slack) / unit.seconds,
                          (frame_.end + slack) / unit.seconds) +
                     "set multiplot\n";
  if (!title.empty())
    text += "set label 1 " + gnuplot_quoted(title) +
            form(" at screen 0.5,%.5f center font 'sans,%.3g' noenhanced\n",
                 1.0 - 1.4 * sheet.em / sheet.height, 1.25 * sheet.font);
  for (std::size_t p = 0; p < sheet.panels.size(); ++p)
    text += panel_commands(sheet, sheet.first + p, p + 1 == sheet.panels.size());
  return text + "unset multiplot\nset output\n";
}

std::string TimePicture::panel_commands(const Sheet& sheet, std::size_t number, bool last) const {
  const Panel& panel = panels_[number];
  const TimeUnit unit = time_unit(frame_.end - frame_.begin);
  const auto said = notes(panel);
  std::vector<std::string> names;
  for (const std::size_t i : panel.curves)
    if (std::ranges::find(names, curves_[i].name) == names.end()) names.push_back(curves_[i].name);
  std::string blocks, plots, keys;
  for (std::size_t n = 0; n < panel.curves.size(); ++n) {
    const std::size_t i = panel.curves[n];
    const Curve& curve = curves_[i];
    const auto variable =
        static_cast<std::size_t>(std::ranges::find(names, curve.name) - names.begin());
    const std::string colour = form(" lc rgb '%s'", curve_colour(variable));
    const std::string id = std::to_string(i), title = " title " + gnuplot_quoted(legend_of(curve));
    const auto add = [&](std::string& list, const std::string& what) {
      list += (list.empty() ? "" : ", ") + what;
    };
    if (curve.measured || curve.points.size() == 1) {
      blocks += block_of("curve" + id, curve.points, unit.seconds);
      add(plots, "$curve" + id + " using 1:2 with points pt " +
                     (curve.measured ? "6 ps 0.6" : "7") + colour + " lw 2" + title);
      continue;
    }
    const Drawn drawn = drawn_of(curve, frame_.begin, frame_.end);
    const bool carries = std::ranges::find(said, std::optional(n), &Note::on) != said.end();
    // Wide and pale below what lies on it, so that both are seen.
    const std::string dashes = form(" dt %zu", curve.dash + 1);
    const std::string line =
        dashes + (carries ? " lc rgb '" + pale(curve_colour(variable)) + "' lw 6"
                          : colour + (said[n].on ? " lw 1.5" : " lw 2"));
    if (!drawn.bands.empty() && !frame_.log_y) {
      blocks += bands_block("band" + id, drawn, unit.seconds);
      add(plots, "$band" + id + " using 1:2:3 with filledcurves" + colour +
                     " fs transparent solid 0.35 noborder notitle");
      for (const char* edge : {"1:2", "1:3"})
        add(plots, "$band" + id + " using " + edge + " with lines" + colour + " lw 1 notitle");
    }
    const bool lines = !drawn.line.empty() || frame_.log_y;
    if (lines) {
      blocks += block_of("curve" + id, frame_.log_y ? curve.points : drawn.line, unit.seconds);
      add(plots, "$curve" + id + " using 1:2 with lines" + line + " notitle");
    }
    std::string sample = "lines" + line;
    if (names.size() > 1) {
      const std::string mark = form(" pt %d ps 0.9", marks[variable % marks.size()]);
      const Points places = marks_of(drawn.line, variable, frame_.begin, frame_.end);
      if (!places.empty()) {
        blocks += block_of("marks" + id, places, unit.seconds);
        add(plots, "$marks" + id + " using 1:2 with points" + mark + colour + " lw 1.5 notitle");
      }
      sample = "linespoints" + mark + (carries ? dashes + colour + " lw 2" : line);
    }
    add(plots, "keyentry with " + sample + title);
    if (!said[n].text.empty())
      add(plots,
          "keyentry with lines lc rgb '#ffffff' title " + gnuplot_quoted("   " + said[n].text));
  }
  const auto [top, bottom] = sheet.panels[number - sheet.first];
  std::string text = blocks;
  text += form("set lmargin at screen %.5f\nset rmargin at screen %.5f\n", sheet.left / sheet.width,
               1.0 - sheet.right / sheet.width);
  text += form("set tmargin at screen %.5f\nset bmargin at screen %.5f\n", 1.0 - top / sheet.height,
               1.0 - bottom / sheet.height);
  text += sheet.legend_above
              ? form(
                    "set key at graph 0,graph 1 left bottom horizontal maxcols %zu Left reverse "
                    "samplen 2.5 spacing 1 noenhanced\n",
                    sheet.columns)
              : form("set key at screen %.5f,%.5f left top Left reverse samplen 2.5 noenhanced\n",
                     1.0 - (sheet.right - 0.4 * sheet.em) / sheet.width, 1.0 - top / sheet.height);
  if (frame_.letters)
    text +=
        form("set label 2 '(%c)' at screen %.5f,%.5f left font 'sans-bold,%g'\n",
             static_cast<char>('a' + static_cast<int>(number % 26)), 0.3 * sheet.em / sheet.width,
             1.0 - (top + 0.4 * sheet.em) / sheet.height, sheet.font);
  text += last ? form("set format x '%%g'\nset xlabel 'time [%s]'\n", unit.name)
               : std::string("set format x ''\nunset xlabel\n");
  text += "set ylabel " + gnuplot_quoted(axis_label(panel)) + " noenhanced\nplot " + plots + "\n";
  return text + "unset label 1\nunset label 2\n";
}

std::string TimePicture::all_pages() const {
  std::vector<Sheet> sheets;
  double height = 0.0;
  for (std::size_t number = 0; number < pages(); ++number) {
    sheets.push_back(sheet_of(number));
    height = std::max(height, sheets.back().height);
  }
  std::string text;
  for (std::size_t number = 0; number < pages(); ++number) {
    sheets[number].height = height;
    const std::string one = body(sheets[number], number), end = "set output\n";
    const std::size_t begin = number == 0 ? 0 : one.find('\n') + 1;  // one terminal for all
    text += one.substr(begin, one.size() - begin - (number + 1 < pages() ? end.size() : 0));
  }
  return text;
}

std::vector<std::filesystem::path> pages_of(const TimePicture& picture,
                                            const std::filesystem::path& path) {
  std::vector<std::filesystem::path> paths{path};
  if (picture_format(path) == PictureFormat::pdf) return paths;
  for (std::size_t number = 2; number <= picture.pages(); ++number) {
    std::filesystem::path next = path;
    next.replace_filename(path.stem().string() + "_" + std::to_string(number) +
                          path.extension().string());
    paths.push_back(next);
  }
  return paths;
}

std::vector<std::filesystem::path> draw_over_time(const TimePicture& picture,
                                                  const std::filesystem::path& path) {
  const auto paths = pages_of(picture, path);
  if (paths.size() < picture.pages())
    draw_with_gnuplot(picture.all_pages(), path);
  else
    for (std::size_t number = 0; number < paths.size(); ++number)
      draw_with_gnuplot(picture.page(number), paths[number]);
  return paths;
}

std::string phase_script(const PictureFrame& frame, const std::vector<Curve>& curves,
                         const std::string& x_label, const std::string& y_label) {
  const double width = frame.width ? width_of(frame) : 920.0, font = font_of(frame);
  const double height = frame.width ? 0.85 * width : 760.0;
  std::string script;
  for (std::size_t i = 0; i < curves.size(); ++i)
    script += block_of("curve" + std::to_string(i), curves[i].points, 1.0);
  script += terminal(frame, width, height, font) + axes(frame) + "set format x '%g'\n";
  if (!frame.title.empty())
    script += "set title " + gnuplot_quoted(frame.title) +
              form(" font 'sans,%.3g' noenhanced\n", 1.25 * font);
  script += "set xlabel " + gnuplot_quoted(x_label) + " noenhanced\nset ylabel " +
            gnuplot_quoted(y_label) + " noenhanced\n" +
            (curves.size() == 1 ? "set key off\n"
             : frame.width      ? "set key above\n"
                                : "") +
            "plot ";
  for (std::size_t i = 0; i < curves.size(); ++i)
    script += (i == 0 ? "" : ", ") +
              form("$curve%zu using 1:2 with lines dt %zu lc rgb '%s' lw 2 title ", i,
                   curves[i].dash + 1, curve_colour(i)) +
              gnuplot_quoted(legend_of(curves[i]));
  return script + "\nset output\n";
}

}  // namespace concord
