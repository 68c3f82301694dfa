#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "cli/command.hpp"
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
    .usage = "RESULT.h5 [--variables V] [--events both|right] [-o out.csv]",
    .summary = "variables as comma-separated values",
    .description =
        "Writes comma-separated values: a header row 'time,left.x,...', then one row per "
        "communication\n"
        "point, time in s, 17 significant digits (every bit of the number). The time of an event "
        "comes\n"
        "twice: what was before it (nothing where that is not known), then what follows.",
    .words = {{.name = "variables",
               .letter = 'v',
               .value = "NAMES",
               .help = "comma-separated names or patterns: left.x,cell[*].x\n"
                       "(default: all; of an output, an input and a state of one name,\n"
                       "the first)"},
              {.name = "events",
               .letter = 'e',
               .value = "ROWS",
               .help = "both: two rows at an event, before and after it (default);\n"
                       "right: what follows it only"},
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

void write_rows(const ResultsReader& results, const std::vector<RecordedVariable>& variables,
                EventLines events, std::size_t first, std::size_t count, TextOutput& file) {
  const Rows rows =
      read_block(results, variables, count, [&](Quantity quantity, std::span<double> values) {
        results.read_rows(quantity, first, count, values);
      });
  std::size_t event = first_event(results, first);
  const std::size_t after =
      events == EventLines::both ? first_event(results, first + count) : event;
  const Rows left = read_block(results, variables, after - event,
                               [&](Quantity quantity, std::span<double> values) {
                                 results.read_left_limits(quantity, event, after - event, values);
                               });
  LineWriter lines(results, variables, file);
  std::size_t left_row = 0;
  for (std::size_t row = 0; row < count; ++row) {
    const double time = results.time()[first + row];
    if (event < after && results.event_rows()[event].row == first + row) {
      lines.write_left(time, left, left_row++);
      ++event;
    }
    lines.write(time, rows, row);
  }
}

EventLines event_lines(const ResultsOptions& options) {
  if (!options.events || *options.events == "both") return EventLines::both;
  if (*options.events == "right") return EventLines::right;
  refuse_words(export_results, "--events " + *options.events + ": must be both or right");
}

}  // namespace

int export_command(std::span<const std::string> arguments) {
  const ResultsOptions options = read_results_options(export_results, arguments, 1, 1);
  const ResultsReader results(options.files[0]);
  write_csv(results, select_variables(results, options.variables), event_lines(options),
            options.output);
  return 0;
}

void write_csv(const ResultsReader& results, const std::vector<RecordedVariable>& variables,
               EventLines events, const std::optional<std::string>& path) {
  TextOutput file(path);
  file.write(header(variables));
  std::size_t widest = 1;
  for (const RecordedVariable& v : variables)
    widest = std::max(widest, results.columns(v.quantity));
  const std::size_t rows = results.time().size(), at_once = rows_per_read(widest);
  for (std::size_t first = 0; first < rows; first += at_once)
    write_rows(results, variables, events, first, std::min(at_once, rows - first), file);
  file.close();
}

}  // namespace concord
