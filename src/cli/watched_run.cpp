#include "cli/watched_run.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <utility>

#include "cli/results_options.hpp"
#include "cli/shown_units.hpp"
#include "concord/errors.hpp"
#include "record/results_reader.hpp"
#include "support/name_patterns.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr std::size_t most_variables = 16, most_of_page = 64, most_rows = 2000;
constexpr int points_of_course = 48;

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

/// Rows at even distances of time, the last one included; `time_of(row)` rises.
template <class TimeOf>
std::vector<std::size_t> sampled_rows(std::size_t count, const TimeOf& time_of) {
  std::vector<std::size_t> rows;
  std::size_t row = 0;
  for (int i = 0; i < points_of_course; ++i) {
    const double part = static_cast<double>(i) / (points_of_course - 1);
    const double t = std::lerp(time_of(0), time_of(count - 1), part);
    while (row + 1 < count && time_of(row + 1) <= t) ++row;
    rows.push_back(row);
  }
  return rows;
}

/// Of rows that come behind `first`, so many at most, the last one included.
std::vector<std::size_t> thinned_rows(std::size_t first, std::size_t end) {
  const std::size_t stride = (end - first) / most_rows + 1;
  std::vector<std::size_t> rows;
  for (std::size_t row = first; row < end; row += stride) rows.push_back(row);
  if (first < end) rows.back() = end - 1;
  return rows;
}

/// Left limits of rows at events come before them where `left` has their entries by rows.
std::vector<WatchedRun::Variable> variables_in(const ResultsReader& results,
                                               const std::vector<std::string>& wanted,
                                               std::size_t most, std::span<const std::size_t> rows,
                                               const std::map<std::size_t, std::size_t>& left) {
  auto chosen = shown_variables(results, wanted);
  chosen.resize(std::min(chosen.size(), most));
  std::vector<WatchedRun::Variable> variables;
  std::map<Quantity, std::vector<double>> row;
  for (const RecordedVariable& variable : chosen) {
    variables.push_back({variable.name, variable.display, {}});
    row[variable.quantity].resize(results.columns(variable.quantity));
  }
  const auto take = [&](const auto& read) {
    for (auto& [quantity, numbers] : row) read(quantity, numbers);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      variables[i].values.push_back(row.at(chosen[i].quantity)[chosen[i].column]);
  };
  for (const std::size_t r : rows) {
    if (const auto entry = left.find(r); entry != left.end())
      take([&](Quantity quantity, std::span<double> numbers) {
        results.read_left_limits(quantity, entry->second, 1, numbers);
      });
    take([&](Quantity quantity, std::span<double> numbers) {
      results.read_rows(quantity, r, 1, numbers);
    });
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) show(chosen[i], variables[i].values);
  return variables;
}

std::vector<WatchedRun::Variable> variables_in(const StreamReader& stream,
                                               const std::vector<std::string>& wanted,
                                               std::size_t most,
                                               std::span<const std::size_t> rows) {
  auto names = chosen_names(wanted, stream.names, "what is watched");
  names.resize(std::min(names.size(), most));
  std::vector<WatchedRun::Variable> variables;
  for (const std::string& name : names) {
    const auto column =
        static_cast<std::size_t>(std::ranges::find(stream.names, name) - stream.names.begin());
    const RecordedVariable variable{name, stream.units[column], {}, column, stream.display[column]};
    variables.push_back({name, variable.display, {}});
    for (const std::size_t row : rows)
      variables.back().values.push_back(stream.history()[row].values[column]);
    show(variable, variables.back().values);
  }
  return variables;
}

}  // namespace

WatchedRun run_in_file(const std::string& path, const std::vector<std::string>& wanted) {
  const ResultsReader results(path);
  const auto& time = results.time();
  WatchedRun run;
  run.model = results.model_name();
  run.status = results.status();
  run.start = time.front();
  run.now = time.back();
  run.stop = option_of(results, "cosim_stop");
  run.rows = time.size();
  run.events = results.events().size();
  if (time.size() > 1) run.last_distance = time.back() - time[time.size() - 2];
  if (run.stop) run.left = time_left(results, *run.stop - run.now);
  const auto rows = sampled_rows(time.size(), [&](std::size_t i) { return time[i]; });
  run.variables = variables_in(results, wanted, most_variables, rows, {});
  return run;
}

WatchedRows rows_in_file(const std::string& path, const std::vector<std::string>& wanted,
                         double since) {
  const ResultsReader results(path);
  const auto& time = results.time();
  const auto first = std::ranges::upper_bound(time, since) - time.begin();
  const auto rows = thinned_rows(static_cast<std::size_t>(first), time.size());
  std::map<std::size_t, std::size_t> left;
  for (std::size_t i = 0; i < results.event_rows().size(); ++i)
    left.emplace(results.event_rows()[i].row, i);
  WatchedRows result;
  for (const std::size_t row : rows)
    result.time.insert(result.time.end(), left.contains(row) ? 2 : 1, time[row]);
  result.variables = variables_in(results, wanted, most_of_page, rows, left);
  return result;
}

Latest<ToldEvent> events_in_file(const std::string& path) {
  const ResultsReader results(path);
  const auto& times = results.events();
  const auto happened = results.read_events();
  Latest<ToldEvent> events;
  for (std::size_t i = 0; i < times.size(); ++i)
    events.add({times[i], happened[i].subsystem, happened[i].what});
  return events;
}

WatchedRun run_in_stream(const StreamReader& stream, const std::vector<std::string>& wanted) {
  const auto& history = stream.history();
  WatchedRun run;
  run.model = stream.model;
  run.status = stream.status.value_or("running");
  run.start = stream.start;
  run.now = history.back().time;
  run.stop = stream.stop;
  run.rows = stream.rows;
  run.events = stream.events;
  if (history.size() > 1) {
    run.last_distance = run.now - stream.before_last().time;
    const std::chrono::duration<double> passed = history.back().come - history.front().come;
    run.left = (*run.stop - run.now) * passed.count() / (run.now - history.front().time);
  }
  const auto rows = sampled_rows(history.size(), [&](std::size_t i) { return history[i].time; });
  run.variables = variables_in(stream, wanted, most_variables, rows);
  return run;
}

WatchedRows rows_in_stream(const StreamReader& stream, const std::vector<std::string>& wanted,
                           double since) {
  const auto& history = stream.history();
  const auto first =
      std::ranges::upper_bound(history, since, {}, &StreamReader::Row::time) - history.begin();
  const auto rows = thinned_rows(static_cast<std::size_t>(first), history.size());
  WatchedRows result;
  for (const std::size_t row : rows) result.time.push_back(history[row].time);
  result.variables = variables_in(stream, wanted, most_of_page, rows);
  return result;
}

StreamReader::Clock::time_point time_in(double seconds) {
  return StreamReader::Clock::now() + std::chrono::duration_cast<StreamReader::Clock::duration>(
                                          std::chrono::duration<double>(seconds));
}

/// Somebody who is there says nothing before the end of a macro-step, and nothing to who does not
/// know the token.
void wait_for_stream(StreamReader& stream, const StreamAddress& address) {
  constexpr double longest = 10.0, until_noted = 5.0;  // s
  for (auto until = time_in(longest), noted = time_in(until_noted); !stream.has_rows();) {
    stream.read(std::min(until, time_in(0.05)));
    if (stream.status) return;
    if (stream.is_lost())
      throw SimulationError("the run at " + address.endpoint +
                            " has ended before anything has come");
    const auto now = StreamReader::Clock::now();
    if (stream.is_connected()) {
      until = time_in(longest);
      if (now < noted) continue;
      noted = until + std::chrono::hours(24);
      std::fprintf(stderr,
                   "concord: note: nothing has come from %s yet: a macro-step takes long, or the "
                   "token is another one\n",
                   address.endpoint.c_str());
    }
    if (now >= until)
      throw InputError("nobody streams at " + address.endpoint + " (-cosim_stream)" +
                       (stream.met_strangers() ? "; who is there does not speak ZeroMQ" : ""));
  }
}

}  // namespace concord
