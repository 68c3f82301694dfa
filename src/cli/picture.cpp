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
constexpr int width = 1200, panel_height = 300, frame_height = 110;  // pixels

// Okabe and Ito's colours, told apart by everybody; the yellow darkened for white paper.
constexpr std::array colours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                "#E69F00", "#56B4E9", "#000000", "#B8A800"};
static_assert(colours.size() == most_curves_per_panel);

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

struct Panel {
  std::string key;
  std::vector<std::size_t> curves;
};

std::vector<Panel> make_panels(const std::vector<Curve>& curves) {
  std::vector<Panel> panels;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string key = panel_key(curves[i].name, curves[i].unit);
    auto panel =
        std::find_if(panels.begin(), panels.end(), [&](const Panel& p) { return p.key == key; });
    if (panel == panels.end()) panel = panels.insert(panel, Panel{key, {}});
    panel->curves.push_back(i);
  }
  return panels;
}

std::string form(const char* pattern, auto... values) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

/// "x [m]" when all curves are called x, else "[m]".
std::string axis_label(const Panel& panel, const std::vector<Curve>& curves) {
  const Curve& first = curves[panel.curves.front()];
  const bool one_name = std::all_of(panel.curves.begin(), panel.curves.end(), [&](std::size_t i) {
    return after_dot(curves[i].name) == after_dot(first.name);
  });
  const std::string unit = first.unit.empty() ? "" : "[" + first.unit + "]";
  const std::string name = one_name ? after_dot(first.name) : "";
  return name + (name.empty() || unit.empty() ? "" : " ") + unit;
}

std::string inline_points(const std::vector<Curve>& curves) {
  std::string text;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    text += "$curve" + std::to_string(i) + " << END_OF_CURVE\n";
    for (const auto& [time, value] : curves[i].points)
      text += std::isnan(value) ? "\n" : form("%.12g %.12g\n", time, value);
    text += "END_OF_CURVE\n";
  }
  return text;
}

std::string terminal(PictureFormat format, int width_in_pixels, int height) {
  constexpr double per_inch = 96.0;
  const std::string looks = " font 'sans,12' background '#ffffff'\n";
  switch (format) {
    case PictureFormat::svg:
      return form("set terminal svg size %d,%d", width_in_pixels, height) + looks;
    case PictureFormat::pdf:
      return form("set terminal pdfcairo size %.3fin,%.3fin", width_in_pixels / per_inch,
                  height / per_inch) +
             looks;
    case PictureFormat::png:
      break;
  }
  return form("set terminal pngcairo size %d,%d", width_in_pixels, height) + looks;
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

double share_of_legend(const std::vector<Curve>& curves) {
  std::size_t longest = 0;
  for (const Curve& curve : curves) longest = std::max(longest, legend_of(curve).size());
  return std::clamp(0.085 + 0.0068 * static_cast<double>(longest), 0.1, 0.4);
}

/// Page, fonts, and what all panels share.
std::string page(const PictureFrame& frame, std::size_t panels, double legend) {
  const int height = frame_height + static_cast<int>(panels) * panel_height;
  const double bottom = 62.0 / height, top = 1.0 - 48.0 / height, gap = 26.0 / height;
  const double slack = frame.begin == frame.end ? 0.5 : 0.0;
  return terminal(frame.format, width, height) + axes(frame) +
         form("set xrange [%.17g:%.17g]\n", frame.begin - slack, frame.end + slack) +
         form("set multiplot layout %zu,1 margins 0.085,%.4f,%.4f,%.4f spacing 0,%.4f title ",
              panels, 1.0 - legend, bottom, top, gap) +
         gnuplot_quoted(frame.title) + " font 'sans,15' noenhanced\n";
}

std::string curve_command(const Curve& curve, std::size_t number, std::size_t colour) {
  const std::string dashes = form(" dt %zu", curve.dash + 1);
  const std::string style = curve.measured             ? "points pt 6 ps 0.6"
                            : curve.points.size() == 1 ? "points pt 7"
                                                       : "lines" + dashes;
  return form("$curve%zu using 1:2 with ", number) + style +
         form(" lc rgb '%s' lw 2 title ", curve_colour(colour)) + gnuplot_quoted(legend_of(curve));
}

std::string panel_commands(const Panel& panel, const std::vector<Curve>& curves, bool last) {
  std::string text = last ? "set format x '%g'\nset xlabel 'time [s]'\n" : "set format x ''\n";
  text += "set ylabel " + gnuplot_quoted(axis_label(panel, curves)) + " noenhanced\nplot ";
  std::vector<std::string> names;
  for (std::size_t n = 0; n < panel.curves.size(); ++n) {
    const Curve& curve = curves[panel.curves[n]];
    const auto known = std::find(names.begin(), names.end(), curve.name);
    const auto colour = static_cast<std::size_t>(known - names.begin());
    if (known == names.end()) names.push_back(curve.name);
    text += (n == 0 ? "" : ", ") + curve_command(curve, panel.curves[n], colour);
  }
  return text + "\n";
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

std::string picture_begin(const PictureFrame& frame, int pixels, int height) {
  return terminal(frame.format, pixels, height) + axes(frame);
}

std::string picture_script(const PictureFrame& frame, const std::vector<Curve>& curves) {
  const std::vector<Panel> panels = make_panels(curves);
  std::string script = inline_points(curves) + page(frame, panels.size(), share_of_legend(curves));
  for (std::size_t i = 0; i < panels.size(); ++i)
    script += panel_commands(panels[i], curves, i + 1 == panels.size());
  return script + "unset multiplot\nset output\n";
}

std::string phase_script(const PictureFrame& frame, const std::vector<Curve>& curves,
                         const std::string& x_label, const std::string& y_label) {
  constexpr int side = 760;
  std::string script = inline_points(curves) + terminal(frame.format, side + 160, side) +
                       axes(frame) + "set format x '%g'\nset title " + gnuplot_quoted(frame.title) +
                       " font 'sans,15' noenhanced\nset xlabel " + gnuplot_quoted(x_label) +
                       " noenhanced\nset ylabel " + gnuplot_quoted(y_label) + " noenhanced\n" +
                       (curves.size() == 1 ? "set key off\n" : "") + "plot ";
  for (std::size_t i = 0; i < curves.size(); ++i)
    script += (i == 0 ? "" : ", ") + curve_command(curves[i], i, i);
  return script + "\nset output\n";
}

}  // namespace concord
