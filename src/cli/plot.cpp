#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <limits>
#include <tuple>

#include "cli/command.hpp"
#include "cli/dense_curves.hpp"
#include "cli/drawing.hpp"
#include "cli/followed_run.hpp"
#include "cli/network_picture.hpp"
#include "cli/picture.hpp"
#include "cli/results_commands.hpp"
#include "cli/results_options.hpp"
#include "cli/session.hpp"
#include "cli/shown_units.hpp"
#include "concord/errors.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

const RegisteredCommand plot({
    .name = "plot",
    .place = 60,
    .usage = "RESULT.h5 [OTHER.h5 ...] [--variables V] [--phase X,Y] [--network] [-o out.png]",
    .summary =
        "variables over time, or over each other, as a\npicture; several runs in one; the network",
    .brief = "variables as a picture; several runs in one",
    .description =
        "Draws variables over time as a picture (PNG, SVG or PDF), with one panel per unit "
        "(variables\nwithout unit: one panel per name after the dot), in display units where the "
        "model gives them, time in s, min, h or d. Variables have colours and marks, runs dashes; "
        "what "
        "lies on\nanother curve is said; what swings too fast to be seen is an envelope. Jumps at "
        "events are "
        "upright "
        "lines;\nwhere macro-steps are long, curves go between rows as polynomials of high order. "
        "Needs "
        "gnuplot.",
    .words = {{.name = "variables",
               .letter = 'v',
               .value = "NAMES",
               .help = "comma-separated names or patterns: left.x,cell[*].x; many take\n"
                       "several pages, out.png, out_2.png ..., or those of one PDF\n"
                       "(default: the outputs, or the inputs, or the states, whichever is\n"
                       "recorded; of many, the first ones)"},
              {.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "picture to write: .png, .svg or .pdf (default: the first results file's\n"
                       "name with .png)"},
              {.name = "phase",
               .letter = 'p',
               .value = "X,Y",
               .help = "the second variable over the first one"},
              {.name = "range", .letter = 'r', .value = "T0,T1", .help = "only this time, in s"},
              {.name = "log",
               .letter = 'l',
               .value = "AXES",
               .help = "logarithmic axes: x, y or xy; what is not positive is left out"},
              {.name = "title",
               .letter = 't',
               .value = "TEXT",
               .help = "instead of the model's name; '' for none"},
              {.name = "width",
               .letter = 'w',
               .value = "84mm",
               .help = "on paper, in mm, cm or in: fonts of 8 points, legends above where it\n"
                       "is narrow, PNG with 300 dots per inch"},
              {.name = "font", .value = "PT", .help = "points; 14 and --width 254mm for slides"},
              {.name = "letters", .help = "(a), (b) ... at panels"},
              {.name = "network",
               .letter = 'n',
               .help = "subsystems and connections instead, with algebraic loops (red) and\n"
                       "ranks (colours), laid out by Graphviz (default: <results>_network.png)"},
              {.name = "follow",
               .letter = 'f',
               .help = "draw anew every two seconds until the run that writes the file ends"}},
    .example = "plot model.h5 -v 'left.*' -o left.png",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return plot_command(after_name(arguments)); });
        },
});

fs::path picture_path(const ResultsOptions& options, const char* ending = ".png") {
  if (options.output) return *options.output;
  fs::path path(options.files[0]);
  return path.replace_filename(path.stem().string() + ending);
}

std::string title_of(const ResultsReader& results) {
  std::string title = results.model_name();
  if (results.status() != "completed") title += " (" + results.status() + ")";
  return title;
}

void print_left_out(const std::vector<std::string>& names, const char* why) {
  constexpr std::size_t most = 12;
  if (names.empty()) return;
  std::printf("%s: ", why);
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    std::printf("%s%s", i == 0 ? "" : ", ", names[i].c_str());
  if (names.size() > most) std::printf(" and %zu more", names.size() - most);
  std::printf("\n");
}

/// What a picture leaves out.
struct LeftOut {
  std::vector<std::string> many, without_number, not_there;
};

/// What a run is called in the legend: nothing where it is alone.
std::string name_of_run(const ResultsOptions& options, std::size_t run) {
  if (options.files.size() == 1) return "";
  const auto stem = [&](std::size_t i) { return fs::path(options.files[i]).stem().string(); };
  for (std::size_t i = 0; i < options.files.size(); ++i)
    if (i != run && stem(i) == stem(run)) return options.files[run];
  return stem(run);
}

/// Several files at once: what is not movable stays where it is.
using Results = std::deque<ResultsReader>;

Results read_results(const ResultsOptions& options) {
  Results all;
  for (const std::string& file : options.files) all.emplace_back(file);
  return all;
}

PictureFrame frame_of(const ResultsOptions& options, const Results& all) {
  PictureFrame frame{.title = options.title.value_or(title_of(all.front())),
                     .begin = all.front().time().front(),
                     .end = all.front().time().back(),
                     .format = picture_format(picture_path(options))};
  for (const ResultsReader& results : all) {
    frame.begin = std::min(frame.begin, results.time().front());
    frame.end = std::max(frame.end, results.time().back());
  }
  if (options.range) std::tie(frame.begin, frame.end) = *options.range;
  frame.log_x = options.log.find('x') != std::string::npos;
  frame.log_y = options.log.find('y') != std::string::npos;
  frame.width = options.width;
  frame.font = options.font;
  frame.letters = options.letters;
  return frame;
}

std::vector<Curve> curves_over_time(const Results& all, const ResultsOptions& options,
                                    LeftOut& left_out) {
  auto variables = shown_variables(all.front(), options.variables);
  if (options.variables.empty()) left_out.many = drop_excess(variables, all.size());
  std::vector<Curve> curves;
  for (std::size_t run = 0; run < all.size(); ++run) {
    const DenseCurves drawn(all[run], options.range);
    for (const RecordedVariable& wanted : variables) {
      const RecordedVariable* found = all[run].find(wanted.name);
      if (found == nullptr) {
        left_out.not_there.push_back(wanted.name + " in " + options.files[run]);
        continue;
      }
      const RecordedVariable shown = shown_like(wanted, *found);
      const std::string& unit = shown.display.empty() ? wanted.display : shown.display;
      Curve curve{shown.name, unit, thin_out(drawn.time(), drawn.values(shown)),
                  name_of_run(options, run), run};
      if (curve.points.empty())
        left_out.without_number.push_back(found->name);
      else
        curves.push_back(std::move(curve));
    }
  }
  return curves;
}

/// "left.x [m]"
std::string with_unit(const RecordedVariable& variable) {
  return variable.name + (variable.display.empty() ? "" : " [" + variable.display + "]");
}

/// One curve per run: every n-th point of a long one.
std::vector<Curve> curves_in_phase(const Results& all, const ResultsOptions& options) {
  constexpr std::size_t most = 20000;
  std::vector<Curve> curves;
  for (std::size_t run = 0; run < all.size(); ++run) {
    const DenseCurves drawn(all[run], options.range);
    const auto variable = [&](std::size_t i) {
      const auto in = [&](const ResultsReader& results) {
        return select_variables(results, {options.phase[i]}).front();
      };
      return shown_like(in(all.front()), in(all[run]));
    };
    const auto x = drawn.values(variable(0)), y = drawn.values(variable(1));
    const std::size_t stride = 1 + x.size() / most;
    const std::string name = name_of_run(options, run);
    Curve curve{name.empty() ? options.phase[1] : name, "", {}, "", run};
    for (std::size_t i = 0; i < x.size(); i += stride)
      if (std::isfinite(x[i]) && std::isfinite(y[i])) curve.points.emplace_back(x[i], y[i]);
    if (!curve.points.empty()) curves.push_back(std::move(curve));
  }
  return curves;
}

/// A logarithm needs something above 0 on its axis, in every panel.
void require_logarithms(PictureFrame& frame, const std::vector<Curve>& curves) {
  double least = std::numeric_limits<double>::infinity();
  for (const Curve& curve : curves) {
    const bool drawn =
        std::any_of(curve.points.begin(), curve.points.end(), [&](const auto& point) {
          return (!frame.log_x || point.first > 0.0) && (!frame.log_y || point.second > 0.0);
        });
    if (!drawn)
      throw InputError("--log: '" + curve.name + "' has no positive value to draw; leave it out");
    for (const auto& [x, y] : curve.points)
      if (x > 0.0) least = std::min(least, x);
  }
  if (frame.log_x) frame.begin = std::max(frame.begin, least);
}

/// Before many pages are drawn.
void tell_pages(const TimePicture& picture, const fs::path& path) {
  if (picture.pages() == 1) return;
  const auto paths = pages_of(picture, path);
  std::printf("%zu curves in %zu panels on %zu pages: %s%s\n", picture.curves(), picture.panels(),
              picture.pages(), path.c_str(),
              paths.size() > 1 ? (" to " + paths.back().string()).c_str() : "");
  std::fflush(stdout);
}

/// The picture, whole at any time. Gives the status of the run.
std::string draw(const ResultsOptions& options, bool tells) {
  const Results all = read_results(options);
  PictureFrame frame = frame_of(options, all);
  const fs::path path = picture_path(options);
  LeftOut left_out;
  const bool phase = !options.phase.empty();
  const auto curves =
      phase ? curves_in_phase(all, options) : curves_over_time(all, options, left_out);
  if (curves.empty())
    throw InputError("'" + options.files.front() +
                     "': the chosen variables have no finite value to draw");
  require_logarithms(frame, curves);
  const auto label = [&](std::size_t i) {
    return with_unit(select_variables(all.front(), {options.phase[i]}).front());
  };
  std::vector<fs::path> drawn{path};
  if (phase) {
    draw_with_gnuplot(phase_script(frame, curves, label(0), label(1)), path);
  } else {
    const TimePicture picture(frame, curves);
    if (tells) tell_pages(picture, path);
    drawn = draw_over_time(picture, path);
  }
  if (!tells) return all.front().status();
  print_left_out(left_out.many, "left out, choose with --variables");
  print_left_out(left_out.without_number, "left out, without any finite value");
  print_left_out(left_out.not_there, "left out, not there");
  for (const fs::path& one : drawn) std::printf("%s\n", one.c_str());
  std::fflush(stdout);
  return all.front().status();
}

void draw_network(const ResultsOptions& options) {
  const fs::path path = picture_path(options, "_network.png");
  const ResultsReader results(options.files[0]);
  draw_with_graphviz(network_graph(results, title_of(results)), path);
  std::printf("%s\n", path.c_str());
}

void follow(const ResultsOptions& options) {
  constexpr double interval = 2.0;  // s
  bool told = false;
  follow_run(options.files[0], interval, [&] {
    const std::string status = draw(options, !told);
    told = true;
    return status;
  });
}

}  // namespace

int plot_command(std::span<const std::string> arguments) {
  constexpr std::size_t most_files = 8;
  const ResultsOptions options = read_results_options(plot, arguments, 1, most_files);
  if (options.follow && options.files.size() > 1)
    refuse_words(plot, "--follow takes one results file");
  if (!options.phase.empty() && !options.variables.empty())
    refuse_words(plot, "--phase names its variables itself; leave out --variables");
  if (options.network) {
    if (options.files.size() > 1 || options.follow || options.range || !options.log.empty() ||
        !options.phase.empty() || !options.variables.empty())
      refuse_words(plot, "--network goes with one results file and -o alone");
    draw_network(options);
    return 0;
  }
  require_gnuplot();
  if (options.follow)
    follow(options);
  else
    draw(options, true);
  return 0;
}

}  // namespace concord
