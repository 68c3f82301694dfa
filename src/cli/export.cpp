#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "cli/command.hpp"
#include "cli/dense_curves.hpp"
#include "cli/event_rows.hpp"
#include "cli/results_commands.hpp"
#include "cli/results_options.hpp"
#include "cli/session.hpp"
#include "concord/errors.hpp"
#include "files/text_output.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

const RegisteredCommand export_results({
    .name = "export",
    .place = 50,
    .usage =
        "RESULT.h5 [--variables V] [--rows grid|events|all] [--events both|right] [--interval S] "
        "[-o out.csv]",
    .summary = "variables as comma-separated values",
    .brief = "variables as CSV",
    .description =
        "Writes comma-separated values: a header row 'time,left.x,...', then a row for each time, "
        "in s,\n"
        "17 significant digits (every bit of the number): the grid of -cosim_output_interval or\n"
        "-cosim_output_times, if the run had one, else every communication point. There the time "
        "of an\n"
        "event comes twice: what was before it (nothing where that is not known), then what "
        "follows.",
    .words = {{.name = "variables",
               .letter = 'v',
               .value = "NAMES",
               .help = "comma-separated names or patterns: left.x,cell[*].x\n"
                       "(default: all; of an output, an input and a state of one name,\n"
                       "the first)"},
              {.name = "rows",
               .letter = 'r',
               .value = "ROWS",
               .help = "grid: where they were wanted, and nowhere else (default of a run\n"
                       "with a grid); events: at events only; all: both (default of others)"},
              {.name = "events",
               .letter = 'e',
               .value = "LIMITS",
               .help = "both: two rows at an event, before and after it (default, but\n"
                       "not of --rows grid); right: what follows it only"},
              {.name = "interval",
               .letter = 'i',
               .value = "S",
               .help = "a row every S seconds, and at the end: between recorded rows as\n"
                       "compare and plot go, never across an event, where what follows counts"},
              {.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "file to write (default: standard output)"}},
    .example = "export model.h5 -v left.x -o out.csv",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return export_command(after_name(arguments)); });
        },
});

std::string header(const std::vector<RecordedVariable>& variables) {
  std::string line = "time";
  for (const RecordedVariable& v : variables) line += "," + csv_field(v.name);
  return line + "\n";
}

void append_number(std::string& text, double value) {
  char number[32];
  text.append(number,
              static_cast<std::size_t>(std::snprintf(number, sizeof number, "%.17g", value)));
}

/// `count` rows of each quantity; `read(quantity, values)` fills them.
template <class Read>
std::map<Quantity, std::vector<double>> read_block(const ResultsReader& results,
                                                   const std::vector<RecordedVariable>& variables,
                                                   std::size_t count, const Read& read) {
  std::map<Quantity, std::vector<double>> block;
  for (const RecordedVariable& v : variables) {
    const auto [entry, added] = block.try_emplace(v.quantity);
    if (!added) continue;
    entry->second.resize(count * results.columns(v.quantity));
    read(v.quantity, entry->second);
  }
  return block;
}

/// Whole rows of each quantity, as they are in the file.
using Rows = std::map<Quantity, std::vector<double>>;

/// Lines of the chosen variables.
class LineWriter {
 public:
  LineWriter(const ResultsReader& results, const std::vector<RecordedVariable>& variables,
             TextOutput& file)
      : results_(results), variables_(variables), file_(file) {}

  void write(double time, const Rows& rows, std::size_t row) {
    begin(time);
    for (const RecordedVariable& v : variables_) append_number(line_ += ',', value(rows, v, row));
    end();
  }

  /// Left limits; those that are not known leave their fields empty.
  void write_left(double time, const Rows& rows, std::size_t row) {
    begin(time);
    for (const RecordedVariable& v : variables_) {
      const double left = value(rows, v, row);
      line_ += ',';
      if (!std::isnan(left)) append_number(line_, left);
    }
    end();
  }

 private:
  void begin(double time) {
    line_.clear();
    append_number(line_, time);
  }
  void end() { file_.write(line_ += '\n'); }
  double value(const Rows& rows, const RecordedVariable& v, std::size_t row) const {
    return rows.at(v.quantity)[row * results_.columns(v.quantity) + v.column];
  }

  const ResultsReader& results_;
  const std::vector<RecordedVariable>& variables_;
  TextOutput& file_;
  std::string line_;
};

/// Position in event_rows() of the first event at or after a row.
std::size_t first_event(const ResultsReader& results, std::size_t row) {
  const auto& events = results.event_rows();
  const auto at = std::partition_point(events.begin(), events.end(),
                                       [&](const EventRow& event) { return event.row < row; });
  return static_cast<std::size_t>(at - events.begin());
}

bool is_chosen(const ResultsReader& results, ChosenRows rows, std::size_t row, bool at_event) {
  if (rows == ChosenRows::events) return at_event;
  return rows == ChosenRows::all || results.is_recorded(row);
}

void write_rows(const ResultsReader& results, const std::vector<RecordedVariable>& variables,
                ChosenLines chosen, std::size_t first, std::size_t count, TextOutput& file) {
  const Rows rows =
      read_block(results, variables, count, [&](Quantity quantity, std::span<double> values) {
        results.read_rows(quantity, first, count, values);
      });
  const std::size_t begin = first_event(results, first);
  const std::size_t events = first_event(results, first + count) - begin;
  const bool with_left = chosen.at_events == EventLines::both;
  const std::size_t n_left = with_left ? events : 0;
  const Rows left =
      read_block(results, variables, n_left, [&](Quantity quantity, std::span<double> values) {
        results.read_left_limits(quantity, begin, n_left, values);
      });
  LineWriter lines(results, variables, file);
  std::size_t event = 0;
  for (std::size_t row = 0; row < count; ++row) {
    const double time = results.time()[first + row];
    const bool at_event = event < events && results.event_rows()[begin + event].row == first + row;
    if (is_chosen(results, chosen.rows, first + row, at_event)) {
      if (at_event && with_left) lines.write_left(time, left, event);
      lines.write(time, rows, row);
    }
    event += at_event ? 1 : 0;
  }
}

/// From the first time on, and the last one.
std::vector<double> every(double interval, double begin, double end) {
  constexpr double same = 1e-9, most = 1e9;
  const double count = std::floor((end - begin) / interval + same);
  if (!(count < most))
    throw InputError("--interval " + short_number(interval) + ": more than 1e9 rows; take more");
  std::vector<double> times;
  for (double i = 0.0; i <= count; i += 1.0) times.push_back(begin + i * interval);
  if (end - times.back() > same * interval) times.push_back(end);
  times.back() = std::min(times.back(), end);
  return times;
}

void write_between(const ResultsReader& results, const std::vector<RecordedVariable>& variables,
                   double interval, const std::optional<std::string>& path) {
  const auto& rows = results.time();
  const std::vector<double> times = every(interval, rows.front(), rows.back());
  const Resampling between(rows, times, GridEvents{rows_at_events(results), {}});
  std::vector<std::vector<double>> columns;
  for (const RecordedVariable& v : variables) columns.push_back(resampled(results, v, between));
  TextOutput file(path);
  file.write(header(variables));
  std::string line;
  for (std::size_t i = 0; i < times.size(); ++i) {
    line.clear();
    append_number(line, times[i]);
    for (const auto& column : columns) append_number(line += ',', column[i]);
    file.write(line += '\n');
  }
  file.close();
}

ChosenRows chosen_rows(const ResultsOptions& options, const ResultsReader& results) {
  if (!options.rows) return own_rows(results);
  if (*options.rows == "events") return ChosenRows::events;
  if (*options.rows == "all") return ChosenRows::all;
  if (*options.rows != "grid")
    refuse_words(export_results, "--rows " + *options.rows + ": must be grid, events or all");
  if (!results.has_grid())
    throw InputError("--rows grid: " + in_quotes(results.path().string()) +
                     " has no rows on a grid; run with -cosim_output_interval, or export all");
  return ChosenRows::grid;
}

EventLines event_lines(const ResultsOptions& options, ChosenRows rows) {
  if (!options.events) return rows == ChosenRows::grid ? EventLines::right : EventLines::both;
  if (*options.events == "both") return EventLines::both;
  if (*options.events == "right") return EventLines::right;
  refuse_words(export_results, "--events " + *options.events + ": must be both or right");
}

}  // namespace

int export_command(std::span<const std::string> arguments) {
  const ResultsOptions options = read_results_options(export_results, arguments, 1, 1);
  const ResultsReader results(options.files[0]);
  const auto variables = select_variables(results, options.variables);
  if (options.interval) {
    write_between(results, variables, *options.interval, options.output);
    return 0;
  }
  const ChosenRows rows = chosen_rows(options, results);
  write_csv(results, variables, {rows, event_lines(options, rows)}, options.output);
  return 0;
}

ChosenRows own_rows(const ResultsReader& results) {
  return results.has_grid() ? ChosenRows::grid : ChosenRows::all;
}

void write_csv(const ResultsReader& results, const std::vector<RecordedVariable>& variables,
               ChosenLines chosen, const std::optional<std::string>& path) {
  TextOutput file(path);
  file.write(header(variables));
  std::size_t widest = 1;
  for (const RecordedVariable& v : variables)
    widest = std::max(widest, results.columns(v.quantity));
  const std::size_t rows = results.time().size(), at_once = rows_per_read(widest);
  for (std::size_t first = 0; first < rows; first += at_once)
    write_rows(results, variables, chosen, first, std::min(at_once, rows - first), file);
  file.close();
}

}  // namespace concord
