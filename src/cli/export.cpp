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
#include "files/table_output.hpp"
#include "files/text_output.hpp"
#include "support/name_patterns.hpp"
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
        "follows.\n"
        "The file's ending chooses: .mat a trajectory as Dymola and OpenModelica write them "
        "(format "
        "4,\n"
        "binTrans; by SciPy), .parquet (by pyarrow), .mf4 or .mdf (MDF 4.10, by asammdf), units in "
        "them;\n"
        "all else is CSV. What is exported may be such a table itself.",
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
              {.name = "texts",
               .letter = 't',
               .help = "text outputs of FMUs instead: rows 'time,variable,value' from when on\n"
                       "each is what, bytes in hexadecimal digits (CSV only)"},
              {.name = "dialect",
               .letter = 'd',
               .value = "WORDS",
               .help = "of CSV: comma, semicolon or tab between fields, decimal-comma, utf-16;\n"
                       "semicolon,decimal-comma,utf-16 for spreadsheets in much of Europe"},
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

TableHeader header(const ResultsReader& results, const std::vector<RecordedVariable>& variables) {
  TableHeader header{results.model_name(), {}, {}};
  for (const RecordedVariable& v : variables) {
    header.names.push_back(v.name);
    header.units.push_back(v.unit);
  }
  return header;
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

/// Rows of the chosen variables.
class ChosenColumns {
 public:
  ChosenColumns(const ResultsReader& results, const std::vector<RecordedVariable>& variables,
                TableOutput& file)
      : results_(results), variables_(variables), file_(file) {}

  /// `gaps`: of left limits, of which some may not be known.
  void write(double time, const Rows& rows, std::size_t row, Gaps gaps = Gaps::refused) {
    values_.clear();
    for (const RecordedVariable& v : variables_)
      values_.push_back(rows.at(v.quantity)[row * results_.columns(v.quantity) + v.column]);
    file_.write(time, values_, gaps);
  }

 private:
  const ResultsReader& results_;
  const std::vector<RecordedVariable>& variables_;
  TableOutput& file_;
  std::vector<double> values_;
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
                ChosenLines chosen, std::size_t first, std::size_t count, TableOutput& file) {
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
  ChosenColumns lines(results, variables, file);
  std::size_t event = 0;
  for (std::size_t row = 0; row < count; ++row) {
    const double time = results.time()[first + row];
    const bool at_event = event < events && results.event_rows()[begin + event].row == first + row;
    if (is_chosen(results, chosen.rows, first + row, at_event)) {
      if (at_event && with_left) lines.write(time, left, event, Gaps::not_a_number);
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
                   double interval, TableOutput& file) {
  const auto& rows = results.time();
  const std::vector<double> times = every(interval, rows.front(), rows.back());
  const Resampling between(rows, times, GridEvents{rows_at_events(results), {}});
  std::vector<std::vector<double>> columns;
  for (const RecordedVariable& v : variables) columns.push_back(resampled(results, v, between));
  std::vector<double> values(columns.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (std::size_t k = 0; k < columns.size(); ++k) values[k] = columns[k][i];
    file.write(times[i], values, Gaps::refused);
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

void write_chosen(const ResultsReader& results, const std::vector<RecordedVariable>& variables,
                  ChosenLines chosen, TableOutput& file) {
  std::size_t widest = 1;
  for (const RecordedVariable& v : variables)
    widest = std::max(widest, results.columns(v.quantity));
  const std::size_t rows = results.time().size(), at_once = rows_per_read(widest);
  for (std::size_t first = 0; first < rows; first += at_once)
    write_rows(results, variables, chosen, first, std::min(at_once, rows - first), file);
  file.close();
}

/// What is no number has a file of its own.
void write_texts(const ResultsReader& results, const ResultsOptions& options) {
  const std::vector<RecordedText> changes = results.read_texts();
  std::vector<std::string> names;
  for (const RecordedText& change : changes)
    if (std::ranges::find(names, change.variable) == names.end()) names.push_back(change.variable);
  if (names.empty())
    throw InputError(in_quotes(results.path().string()) +
                     " has no texts; leave --texts out for what is numeric");
  const auto chosen = chosen_names(options.variables, names, in_quotes(results.path().string()));
  TextOutput file(options.output);
  file.write("time,variable,value\n");
  for (const RecordedText& change : changes)
    if (std::ranges::find(chosen, change.variable) != chosen.end())
      file.write(exact_number(change.time) + ',' + csv_field(change.variable) + ',' +
                 csv_field(change.value) + '\n');
  file.close();
}

}  // namespace

int export_command(std::span<const std::string> arguments) {
  const ResultsOptions options = read_results_options(export_results, arguments, 1, 1);
  const ResultsReader results(options.files[0]);
  if (options.texts) {
    write_texts(results, options);
    return 0;
  }
  const auto variables = select_variables(results, options.variables);
  const std::optional<ChosenRows> rows =
      options.interval ? std::nullopt : std::optional(chosen_rows(options, results));
  const std::optional<ChosenLines> chosen =
      rows ? std::optional(ChosenLines{*rows, event_lines(options, *rows)}) : std::nullopt;
  const auto file = make_table_output(options.output, header(results, variables), options.dialect);
  if (chosen)
    write_chosen(results, variables, *chosen, *file);
  else
    write_between(results, variables, *options.interval, *file);
  return 0;
}

ChosenRows own_rows(const ResultsReader& results) {
  return results.has_grid() ? ChosenRows::grid : ChosenRows::all;
}

void write_table(const ResultsReader& results, const std::vector<RecordedVariable>& variables,
                 ChosenLines chosen, const std::string& path) {
  const auto file = make_table_output(path, header(results, variables));
  write_chosen(results, variables, chosen, *file);
}

}  // namespace concord
