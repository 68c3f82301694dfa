#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>

#include "cli/command.hpp"
#include "cli/followed_run.hpp"
#include "cli/results_options.hpp"
#include "cli/session.hpp"
#include "support/name_patterns.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

int watch(const Arguments& arguments);

const RegisteredCommand watch_run({
    .name = "watch",
    .place = 62,
    .usage = "RESULT.h5 [--variables V] [--every SECONDS] [--once]",
    .summary = "a run that goes on, in the terminal",
    .description =
        "Shows how far a run is that writes this results file: time, time left, rows, events,\n"
        "and variables as they are and have been; in a terminal in place, else a line each time. "
        "Rows\n"
        "are in the file every two seconds. It ends with the run, with its exit code: 0 done, 1 "
        "failed\n"
        "or no more, 3 stopped early.",
    .words = {{.name = "variables",
               .letter = 'v',
               .value = "NAMES",
               .help = "comma-separated names or patterns: left.x,cell[*].x\n"
                       "(default: the first outputs)"},
              {.name = "every",
               .letter = 'e',
               .value = "SECONDS",
               .help = "how often to look (default: 2)"},
              {.name = "once", .letter = '1', .help = "only now; exit code 0"}},
    .example = "watch model.h5 -v 'left.*'",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return watch(arguments); });
        },
});

/// The number of an option in the last of the runs that have written the file.
std::optional<double> option_of(const ResultsReader& results, std::string_view name) {
  const auto runs = results.texts("/runs/options");
  if (runs.empty()) return std::nullopt;
  for (const auto& [option, value] : options::named(runs.back()))
    if (option == name) return parse_number(value);
  return std::nullopt;
}

/// Seconds that the rest takes, as the last macro-steps went; not a number where that is not known.
double time_left(const ResultsReader& results, double rest) {
  constexpr std::size_t most = 1000;
  const auto sizes = results.numbers("/steps/size"), wall = results.numbers("/steps/wall_time");
  const std::size_t steps = std::min(sizes.size(), wall.size());
  const auto last = static_cast<std::ptrdiff_t>(std::min(steps, most));
  const auto sum = [&](const std::vector<double>& of) {
    const auto end = of.begin() + static_cast<std::ptrdiff_t>(steps);
    return std::accumulate(end - last, end, 0.0);
  };
  return rest * sum(wall) / sum(sizes);
}

std::string in_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  if (seconds < 120) return text;
  const auto whole = static_cast<long long>(seconds);
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  return text;
}

std::string progress_line(const ResultsReader& results) {
  const double now = results.time().back(), start = results.time().front();
  const auto stop = option_of(results, "cosim_stop");
  std::string line;
  char text[64];
  if (stop && *stop > start) {
    std::snprintf(text, sizeof text, "%5.1f %%  ", 100.0 * (now - start) / (*stop - start));
    line += text;
  }
  line += "t = " + short_number(now) + " s";
  const auto& rows = results.time();
  line += "  " + std::to_string(rows.size()) + " rows";
  if (rows.size() > 1)
    line += ", the last " + short_number(rows.back() - rows[rows.size() - 2]) + " s apart";
  line += "  " + std::to_string(results.events().size()) + " events";
  const double left = stop ? time_left(results, *stop - now) : NAN;
  if (results.status() == "running" && std::isfinite(left)) line += "  left " + in_seconds(left);
  return line;
}

/// What a variable has been, in eight heights, by time; blank where it is not a number.
std::string course_of(std::span<const double> values) {
  static constexpr std::array heights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double least = INFINITY, most = -INFINITY;
  for (const double value : values)
    if (std::isfinite(value)) least = std::min(least, value), most = std::max(most, value);
  std::string course;
  for (const double value : values) {
    const double part = most > least ? (value - least) / (most - least) : 0.0;
    course += !std::isfinite(value)
                  ? " "
                  : heights[static_cast<std::size_t>(std::lround(part * (heights.size() - 1)))];
  }
  return course;
}

/// Rows at even distances of time, the last one included.
std::vector<std::size_t> sampled_rows(const std::vector<double>& time) {
  constexpr int wanted = 48;
  std::vector<std::size_t> rows;
  for (int i = 0; i < wanted; ++i) {
    const double t = std::lerp(time.front(), time.back(), static_cast<double>(i) / (wanted - 1));
    const auto row = std::upper_bound(time.begin(), time.end(), t) - time.begin() - 1;
    rows.push_back(static_cast<std::size_t>(std::max<std::ptrdiff_t>(row, 0)));
  }
  return rows;
}

std::string variable_lines(const ResultsReader& results, const std::vector<std::string>& wanted) {
  constexpr std::size_t most = 16;
  auto variables = shown_variables(results, wanted);
  variables.resize(std::min(variables.size(), most));
  std::vector<std::vector<double>> values(variables.size());
  std::map<Quantity, std::vector<double>> row;
  for (const RecordedVariable& variable : variables)
    row[variable.quantity].resize(results.columns(variable.quantity));
  for (const std::size_t r : sampled_rows(results.time())) {
    for (auto& [quantity, numbers] : row) results.read_rows(quantity, r, 1, numbers);
    for (std::size_t i = 0; i < variables.size(); ++i)
      values[i].push_back(row.at(variables[i].quantity)[variables[i].column]);
  }
  std::string lines;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    char text[160];
    std::snprintf(text, sizeof text, "  %-24s %12.6g %-8s ", variables[i].name.c_str(),
                  values[i].back(), variables[i].unit.c_str());
    lines += text + course_of(values[i]) + "\n";
  }
  return lines;
}

/// All that is known, once or in a terminal over what was shown before; or a line each time.
enum class Manner { once, in_place, lines };

/// Shows what is there now.
class Display {
 public:
  Display(std::vector<std::string> wanted, Manner manner)
      : wanted_(std::move(wanted)), manner_(manner) {}

  /// Gives the status.
  std::string show(const std::string& path) {
    const ResultsReader results(path);
    std::string text = progress_line(results) + "\n";
    if (manner_ != Manner::lines)
      text = results.model_name() + ", " + results.status() + "\n" + text +
             variable_lines(results, wanted_);
    if (manner_ == Manner::in_place && shown_ > 0) std::printf("\033[%tdA\033[J", shown_);
    shown_ = std::count(text.begin(), text.end(), '\n');
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return results.status();
  }

 private:
  std::vector<std::string> wanted_;
  Manner manner_;
  std::ptrdiff_t shown_ = 0;  ///< lines
};

int code_of(const std::string& status) {
  if (status == "interrupted") return 3;
  return status == "failed" || status == "running" ? 1 : 0;
}

int watch(const Arguments& arguments) {
  const GivenWords given = read_words(watch_run, after_name(arguments));
  if (given.names.size() != 1) refuse_words(watch_run, "'concord watch' takes one results file");
  const std::string text = given.value("every").value_or("2");
  const auto every = parse_number(text);
  if (!every || *every < 0.1 || *every > 86400)
    refuse_words(watch_run, "--every takes seconds, 0.1 to 86400, not " + in_quotes(text));
  const std::string& path = given.names.front();
  const Manner manner = given.has("once")            ? Manner::once
                        : isatty(STDOUT_FILENO) != 0 ? Manner::in_place
                                                     : Manner::lines;
  Display display(listed_names(given.value("variables").value_or("")), manner);
  const auto show = [&] { return display.show(path); };
  if (manner == Manner::once) return show(), 0;
  const std::string status = follow_run(path, *every, show);
  if (status != "running") std::printf("%s\n", status.c_str());
  return code_of(status);
}

}  // namespace
}  // namespace concord
