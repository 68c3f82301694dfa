#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "cli/command.hpp"
#include "cli/event_rows.hpp"
#include "cli/gnuplot.hpp"
#include "cli/picture.hpp"
#include "cli/results_commands.hpp"
#include "cli/results_options.hpp"
#include "cli/session.hpp"
#include "concord/errors.hpp"
#include "record/results_lock.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

const RegisteredCommand plot({
    .name = "plot",
    .place = 60,
    .usage = "RESULT.h5 [--variables V] [--follow] [-o out.png]",
    .summary = "variables over time as a picture",
    .description =
        "Draws variables over time as a PNG picture, with one panel per unit (variables without "
        "unit:\n"
        "one panel per name after the dot). Jumps at events are upright lines. Needs gnuplot.",
    .words = {{.name = "variables",
               .letter = 'v',
               .value = "NAMES",
               .help = "comma-separated names or patterns: left.x,cell[*].x\n"
                       "(default: the outputs, or the inputs, or the states, whichever is\n"
                       "recorded; of many, the first ones)"},
              {.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "picture to write (default: the results file's name with .png)"},
              {.name = "follow",
               .letter = 'f',
               .help = "draw anew every two seconds until the run that writes the file ends"}},
    .example = "plot model.h5 -v 'left.*' -o left.png",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return plot_command(after_name(arguments)); });
        },
});

/// The outputs, or what is recorded instead of them.
std::vector<RecordedVariable> default_variables(const ResultsReader& results) {
  for (const Quantity q : {"/outputs/values", "/inputs/values", "/states/values"}) {
    std::vector<RecordedVariable> variables;
    std::copy_if(results.variables().begin(), results.variables().end(),
                 std::back_inserter(variables),
                 [&](const RecordedVariable& v) { return v.quantity == q; });
    if (!variables.empty()) return variables;
  }
  throw InputError("'" + results.path().string() + "' holds no variables, only times and steps");
}

fs::path picture_path(const ResultsOptions& options) {
  fs::path path = options.output ? fs::path(*options.output)
                                 : fs::path(options.files[0]).replace_extension(".png");
  if (path.extension() != ".png" && path.extension() != ".PNG")
    throw InputError("'" + path.string() + "' does not end in .png: the picture is a PNG file");
  return path;
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

std::vector<Curve> read_curves(const ResultsReader& results,
                               const std::vector<RecordedVariable>& variables,
                               std::vector<std::string>& without_number) {
  const std::vector<std::size_t> rows = rows_at_events(results);
  const std::vector<double> time = with_left_limits(results.time(), rows, {});
  std::vector<Curve> curves;
  for (const RecordedVariable& v : variables) {
    const std::size_t column[] = {v.column};
    const auto values = results.read_columns(v.quantity, column);
    const auto left = results.read_left_columns(v.quantity, column);
    Curve curve{v.name, v.unit,
                thin_out(time, with_left_limits(values.front(), rows, left.front()))};
    if (curve.points.empty())
      without_number.push_back(v.name);
    else
      curves.push_back(std::move(curve));
  }
  return curves;
}

/// The picture, whole at any time. Gives the status of the run.
std::string draw(const ResultsOptions& options, bool tells) {
  const ResultsReader results(options.files[0]);
  auto variables = options.variables.empty() ? default_variables(results)
                                             : select_variables(results, options.variables);
  const std::vector<std::string> left_out = drop_excess(variables);
  const fs::path path = picture_path(options);
  std::vector<std::string> without_number;
  const auto curves = read_curves(results, variables, without_number);
  if (curves.empty())
    throw InputError("'" + results.path().string() +
                     "': the chosen variables have no finite value to draw");
  draw_with_gnuplot(
      picture_script(title_of(results), results.time().front(), results.time().back(), curves),
      path);
  if (!tells) return results.status();
  print_left_out(left_out, "left out, choose with --variables");
  print_left_out(without_number, "left out, without any finite value");
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);
  return results.status();
}

/// What is written at this very moment may not be readable: then the next time.
void follow(const ResultsOptions& options) {
  constexpr auto interval = std::chrono::seconds(2);
  const fs::path file = options.files[0];
  for (std::string status = draw(options, true); status == "running";) {
    const bool goes_on = is_being_written(file);
    if (goes_on) std::this_thread::sleep_for(interval);
    try {
      status = draw(options, false);
    } catch (const InputError&) {
      if (!goes_on) throw;
    }
    if (!goes_on && status == "running") {
      std::printf("the run that has written '%s' is no more\n", file.c_str());
      return;
    }
  }
}

}  // namespace

int plot_command(std::span<const std::string> arguments) {
  const ResultsOptions options = read_results_options(plot, arguments, 1);
  require_gnuplot();
  if (options.follow)
    follow(options);
  else
    draw(options, true);
  return 0;
}

}  // namespace concord
