#include "modelfile/yaml/results_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "concord/errors.hpp"
#include "record/results_reader.hpp"
#include "support/name_patterns.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// What is less of a signal's magnitude is no jump.
constexpr double rounding = 1e-12;

const RecordedVariable& variable(const ResultsReader& results, const std::string& name) {
  if (const RecordedVariable* found = results.find(name)) {
    return *found;
  }
  throw InputError("there is no variable " + in_quotes(name) + " in '" + results.path().string() +
                   "'; " + nearest_names(name, names_of(results.variables())));
}

/// Values at the rows, and left limits at the rows of events.
struct Signal {
  std::vector<double> values, left;
  double size = 0.0;  ///< largest magnitude

  bool jumps(std::size_t event, std::size_t row) const {
    return std::abs(left[event] - values[row]) > rounding * size;
  }
};

Signal read_signal(const ResultsReader& results, const RecordedVariable& variable) {
  const std::array wanted{variable.column};
  Signal signal;
  signal.values = std::move(results.read_columns(variable.quantity, wanted).front());
  signal.left = std::move(results.read_left_columns(variable.quantity, wanted).front());
  for (std::size_t row = 0; row < signal.values.size(); ++row) {
    if (!std::isfinite(signal.values[row])) {
      throw InputError(in_quotes(variable.name) + " in '" + results.path().string() +
                       "' is not a number at t = " + short_number(results.time()[row]) + " s");
    }
    signal.size = std::max(signal.size, std::abs(signal.values[row]));
  }
  return signal;
}

/// The line through the two rows before, where no event lies between; else the value of the row
/// before.
double continued(const std::vector<double>& time, const std::vector<double>& values,
                 std::size_t row, bool event_before) {
  if (row < 2 || event_before) {
    return values[row - 1];
  }
  const double slope = (values[row - 1] - values[row - 2]) / (time[row - 1] - time[row - 2]);
  return values[row - 1] + slope * (time[row] - time[row - 1]);
}

void continue_to_events(const ResultsReader& results, Signal& signal) {
  const auto& events = results.event_rows();
  for (std::size_t event = 0; event < events.size(); ++event) {
    const std::size_t row = events[event].row;
    if (row > 0 && std::isnan(signal.left[event])) {
      const bool event_before = event > 0 && events[event - 1].row + 1 == row;
      signal.left[event] = continued(results.time(), signal.values, row, event_before);
    }
  }
}

/// The time of the jumps twice.
void add_rows(const ResultsReader& results, const std::vector<Signal>& signals, TimeTable& table) {
  const auto& events = results.event_rows();
  std::size_t event = 0;
  for (std::size_t row = 0; row < results.time().size(); ++row) {
    const bool at_event = event < events.size() && events[event].row == row;
    if (at_event && row > 0 &&
        std::any_of(signals.begin(), signals.end(),
                    [&](const Signal& signal) { return signal.jumps(event, row); })) {
      table.time.push_back(results.time()[row]);
      for (std::size_t i = 0; i < signals.size(); ++i) {
        table.columns[i].push_back(signals[i].left[event]);
      }
    }
    event += at_event ? 1 : 0;
    table.time.push_back(results.time()[row]);
    for (std::size_t i = 0; i < signals.size(); ++i) {
      table.columns[i].push_back(signals[i].values[row]);
    }
  }
}

}  // namespace

bool is_results_file(const std::filesystem::path& path) {
  if (path.extension() == ".h5" || path.extension() == ".hdf5") {
    return true;
  }
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  std::string begin(signature.size(), ' ');
  std::ifstream(path, std::ios::binary).read(begin.data(), std::ssize(begin));
  return begin == signature;
}

ResultsRows read_results_rows(const std::filesystem::path& path,
                              std::span<const std::string> variables) {
  const ResultsReader results(path);
  ResultsRows rows;
  std::vector<Signal> signals;
  for (const std::string& name : variables) {
    const RecordedVariable& found = variable(results, name);
    signals.push_back(read_signal(results, found));
    continue_to_events(results, signals.back());
    rows.table.names.push_back(name);
    rows.units.push_back(found.unit);
  }
  rows.table.columns.resize(signals.size());
  add_rows(results, signals, rows.table);
  return rows;
}

}  // namespace concord
