#include "cli/study_picture.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/drawing.hpp"
#include "cli/picture.hpp"

namespace concord {
namespace {

std::vector<std::string> types_in(const std::vector<StudyRun>& runs) {
  std::vector<std::string> types;
  for (const StudyRun& run : runs)
    if (std::find(types.begin(), types.end(), run.type) == types.end()) types.push_back(run.type);
  return types;
}

/// Of each type the runs from the largest step to the smallest, $step0, and from the least work to
/// the most, $work0: lines that do not turn back, whatever a clock has said of two runs. An error
/// of 0 has no logarithm.
std::string study_points(const std::vector<StudyRun>& runs, const std::vector<std::string>& types,
                         const StudyWork& work) {
  std::string text;
  const auto add = [&](const char* name, std::size_t type, const auto& measure) {
    std::vector<std::pair<double, double>> points;
    for (const StudyRun& run : runs)
      if (const double error = run.worst().relative; run.type == types[type] && error > 0.0)
        points.emplace_back(measure(run), error);
    std::ranges::sort(points);
    text += "$" + std::string(name) + std::to_string(type) + " << END_OF_TYPE\n";
    for (const auto& [x, error] : points) {
      char line[128];
      std::snprintf(line, sizeof line, "%.12g %.12g\n", x, error);
      text += line;
    }
    text += "END_OF_TYPE\n";
  };
  for (std::size_t i = 0; i < types.size(); ++i) {
    add("step", i, [](const StudyRun& run) { return run.step; });
    add("work", i, [&](const StudyRun& run) { return work.of(run); });
  }
  return text;
}

std::string study_panel(const char* label, const char* points, bool named,
                        const std::vector<std::string>& types) {
  std::string text = "set xlabel " + gnuplot_quoted(label) + "\nplot ";
  for (std::size_t i = 0; i < types.size(); ++i) {
    char curve[160];
    std::snprintf(curve, sizeof curve,
                  "%s$%s%zu using 1:2 with linespoints lc rgb '%s' lw 2 pt %zu dt %zu ps 1.2 ",
                  i == 0 ? "" : ", ", points, i, curve_colour(i), 4 + i, 1 + i % 5);
    text += curve + (named ? "title " + gnuplot_quoted(types[i]) : std::string("notitle"));
  }
  return text + "\n";
}

}  // namespace

std::string study_script(const std::string& title, const std::vector<StudyRun>& runs,
                         const StudyWork& work) {
  const std::vector<std::string> types = types_in(runs);
  return study_points(runs, types, work) +
         "set terminal pngcairo size 1200,560 font 'sans,12' background '#ffffff'\n"
         "set encoding utf8\nset minussign\nset border 3 lc rgb '#606060'\n"
         "set tics nomirror textcolor rgb '#303030'\n"
         "set grid lc rgb '#dddddd' lt 1 lw 1\nset logscale xy\n"
         "set format x '10^{%T}'\nset format y '10^{%T}'\n"
         "set ylabel 'relative L2 error, worst output'\n"
         "set key outside right top Left reverse samplen 2 spacing 1.2 noenhanced\n"
         "set multiplot layout 1,2 title " +
         gnuplot_quoted(title) + " font 'sans,15' noenhanced\nset key off\n" +
         study_panel("macro-step [s]", "step", false, types) +
         "set key on\nset key outside right top Left reverse samplen 2 spacing 1.2 noenhanced\n" +
         study_panel(work.name(), "work", true, types) + "unset multiplot\nset output\n";
}

}  // namespace concord
