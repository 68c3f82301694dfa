#include "cli/study_picture.hpp"

#include <algorithm>
#include <cstdio>

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

/// step, work, error per run; an error of 0 has no logarithm.
std::string study_points(const std::vector<StudyRun>& runs, const std::vector<std::string>& types,
                         const StudyWork& work) {
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i) {
    text += "$type" + std::to_string(i) + " << END_OF_TYPE\n";
    for (const StudyRun& run : runs) {
      const double error = run.worst().relative;
      if (run.type != types[i] || !(error > 0.0)) continue;
      char line[128];
      std::snprintf(line, sizeof line, "%.12g %.12g %.12g\n", run.step, work.of(run), error);
      text += line;
    }
    text += "END_OF_TYPE\n";
  }
  return text;
}

std::string study_panel(const char* label, int column, bool named,
                        const std::vector<std::string>& types) {
  std::string text = "set xlabel " + gnuplot_quoted(label) + "\nplot ";
  for (std::size_t i = 0; i < types.size(); ++i) {
    char curve[160];
    std::snprintf(curve, sizeof curve,
                  "%s$type%zu using %d:3 with linespoints lc rgb '%s' lw 2 pt %zu ps 1.2 ",
                  i == 0 ? "" : ", ", i, column, curve_colour(i), 4 + i);
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
         study_panel("macro-step [s]", 1, false, types) +
         "set key on\nset key outside right top Left reverse samplen 2 spacing 1.2 noenhanced\n" +
         study_panel(work.name(), 2, true, types) + "unset multiplot\nset output\n";
}

}  // namespace concord
