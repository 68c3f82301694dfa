#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cli/command.hpp"
#include "cli/event_rows.hpp"
#include "cli/resampling.hpp"
#include "cli/results_commands.hpp"
#include "cli/results_options.hpp"
#include "cli/session.hpp"
#include "concord/errors.hpp"
#include "support/name_patterns.hpp"

namespace concord {
namespace {

const RegisteredCommand compare({
    .name = "compare",
    .place = 40,
    .usage = "A.h5 B.h5 [--variables V]",
    .summary = "error of A against B",
    .description =
        "Prints the error of the results A against the reference B, per variable, over the\n"
        "communication points of A in the common time interval:\n"
        "  relative L2  sqrt(sum (a-b)^2 / sum b^2)\n"
        "  maximum      max |a-b|, in the unit of the variable\n"
        "B is interpolated where its time grid differs: cubic Hermite for inputs, whose "
        "derivatives are\n"
        "recorded, else Lagrange of up to degree 7 on the nearest points; neither across events "
        "nor\n"
        "across jumps and kinks that the rows show. Rows at events, which hold what follows, are\n"
        "compared with what follows the same event of B, also where B has it a little earlier or "
        "later.",
    .words = {{.name = "variables",
               .letter = 'v',
               .value = "NAMES",
               .help = "comma-separated names or patterns: left.x,cell[*].x\n"
                       "(default: all variables that both files hold, but balance errors)"}},
    .example = "compare coarse.h5 fine.h5 --variables 'left.*'",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return compare_command(after_name(arguments)); });
        },
});

constexpr std::size_t doubles_at_once = std::size_t{1} << 25;

struct VariableError {
  std::string name, unit;
  double relative = 0.0;
  double maximum = 0.0;
  double time_of_maximum = 0.0;
};

/// A variable of both files.
struct Pair {
  RecordedVariable a, b;
};

/// Variables of one quantity in A and one quantity in B, so that both are read in one pass.
using Batch = std::vector<Pair>;

std::vector<Batch> make_batches(std::vector<Pair> pairs, std::size_t rows) {
  const auto kind = [](const Pair& p) { return std::pair(p.a.quantity, p.b.quantity); };
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](const Pair& p, const Pair& q) { return kind(p) < kind(q); });
  const std::size_t most = std::max<std::size_t>(1, doubles_at_once / rows);
  std::vector<Batch> batches;
  for (Pair& pair : pairs) {
    if (batches.empty() || batches.back().size() == most ||
        kind(batches.back().back()) != kind(pair))
      batches.emplace_back();
    batches.back().push_back(std::move(pair));
  }
  return batches;
}

VariableError error_of(const Pair& pair, std::span<const double> time,
                       const std::vector<std::size_t>& rows, std::span<const double> a,
                       std::span<const double> b) {
  VariableError error{pair.a.name, pair.a.unit, 0.0, 0.0, time[rows.front()]};
  double difference = 0.0, reference = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double d = std::abs(a[rows[i]] - b[i]);
    difference += d * d;
    reference += b[i] * b[i];
    if (d > error.maximum || (std::isnan(d) && !std::isnan(error.maximum))) {
      error.maximum = d;
      error.time_of_maximum = time[rows[i]];
    }
  }
  error.relative = difference == 0.0 ? 0.0 : std::sqrt(difference / reference);
  return error;
}

std::vector<VariableError> errors_of(const Batch& batch, const ResultsReader& a,
                                     const ResultsReader& b, const Resampling& at_a) {
  std::vector<std::size_t> columns_a, columns_b;
  for (const Pair& pair : batch) {
    columns_a.push_back(pair.a.column);
    columns_b.push_back(pair.b.column);
  }
  const Quantity in_b = batch.front().b.quantity;
  const auto values_a = a.read_columns(batch.front().a.quantity, columns_a);
  const auto values_b = b.read_columns(in_b, columns_b);
  const std::string slopes = std::string(in_b.substr(0, in_b.rfind('/'))) + "/derivatives";
  const auto derivatives = b.columns(slopes) > 0 ? b.read_columns(slopes, columns_b)
                                                 : std::vector<std::vector<double>>(batch.size());
  const auto left = b.event_rows().empty() ? std::vector<std::vector<double>>(batch.size())
                                           : b.read_left_columns(in_b, columns_b);
  std::vector<VariableError> errors;
  for (std::size_t i = 0; i < batch.size(); ++i)
    errors.push_back(error_of(batch[i], a.time(), at_a.rows(), values_a[i],
                              at_a(values_b[i], left[i], derivatives[i])));
  return errors;
}

/// Balance errors are errors themselves: compared only where they are asked for.
std::vector<std::string> names_of(const ResultsReader& results, bool with_balance) {
  std::vector<std::string> names;
  for (const RecordedVariable& v : results.variables())
    if (with_balance || v.quantity != "/balance/values") names.push_back(v.name);
  return names;
}

/// The names of both files, those of A first.
std::vector<std::string> all_names(const ResultsReader& a, const ResultsReader& b,
                                   bool with_balance) {
  std::vector<std::string> names = names_of(a, with_balance);
  const std::unordered_set<std::string> in_a(names.begin(), names.end());
  for (const std::string& name : names_of(b, with_balance))
    if (!in_a.contains(name)) names.push_back(name);
  return names;
}

void print_missing(const ResultsReader& missing_in, const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  if (names.empty()) return;
  std::printf("not in %s:", missing_in.path().c_str());
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    std::printf("%s %s", i == 0 ? "" : ",", names[i].c_str());
  if (names.size() > most) std::printf(" and %zu more", names.size() - most);
  std::printf("\n");
}

/// The variables to compare; prints those that one file lacks.
std::vector<Pair> find_pairs(const ResultsReader& a, const ResultsReader& b,
                             const std::vector<std::string>& wanted) {
  const std::string where = "'" + a.path().string() + "' or '" + b.path().string() + "'";
  const auto index = [](const ResultsReader& results) {
    std::unordered_map<std::string, const RecordedVariable*> by_name;
    for (const RecordedVariable& v : results.variables()) by_name.emplace(v.name, &v);
    return by_name;
  };
  const auto in_a = index(a), in_b = index(b);
  std::vector<Pair> pairs;
  std::vector<std::string> not_in_a, not_in_b;
  for (const std::string& name : chosen_names(wanted, all_names(a, b, !wanted.empty()), where)) {
    if (!in_a.contains(name))
      not_in_a.push_back(name);
    else if (!in_b.contains(name))
      not_in_b.push_back(name);
    else
      pairs.push_back({*in_a.at(name), *in_b.at(name)});
  }
  if (pairs.empty())
    throw InputError("'" + a.path().string() + "' and '" + b.path().string() + "' have no " +
                     (wanted.empty() ? "" : "such ") + "variable in common");
  print_missing(a, not_in_a);
  print_missing(b, not_in_b);
  return pairs;
}

/// The rows of `b` at events that only `a` tells of.
std::vector<std::size_t> rows_at(const std::vector<double>& times, const ResultsReader& b) {
  std::vector<std::size_t> rows;
  for (const double time : times) {
    const auto at = std::lower_bound(b.time().begin(), b.time().end(), time);
    const auto row = static_cast<std::size_t>(at - b.time().begin());
    if (at != b.time().end() && *at == time && row > 0 && (rows.empty() || rows.back() != row))
      rows.push_back(row);
  }
  return rows;
}

/// What happened there, and for which time: the same in both files, though the instants differ by
/// what the runs are wrong by.
using Occurrence = std::tuple<std::string, std::string, std::size_t>;

/// For each of event_rows() the occurrences of subsystems' events.
std::vector<std::vector<Occurrence>> occurrences(const ResultsReader& results) {
  const std::vector<RecordedEvent> events = results.read_events();
  std::map<std::pair<std::string, std::string>, std::size_t> count;
  std::vector<std::vector<Occurrence>> result;
  for (const EventRow& row : results.event_rows()) {
    auto& here = result.emplace_back();
    for (std::size_t i = row.entry; i < events.size(); ++i) {
      if (results.events()[i] != results.events()[row.entry]) break;
      const auto& [subsystem, what] = events[i];
      if (!subsystem.empty()) here.emplace_back(subsystem, what, count[{subsystem, what}]++);
    }
  }
  return result;
}

/// Half the way to the next row: events further apart are others.
double reach(const std::vector<double>& time, std::size_t row) {
  double nearest = time.back() - time.front();
  if (row > 0) nearest = std::min(nearest, time[row] - time[row - 1]);
  if (row + 1 < time.size()) nearest = std::min(nearest, time[row + 1] - time[row]);
  return 0.5 * nearest;
}

std::vector<std::pair<std::size_t, std::size_t>> partners(const ResultsReader& a,
                                                          const ResultsReader& b) {
  std::map<Occurrence, std::size_t> in_b;
  const auto of_a = occurrences(a), of_b = occurrences(b);
  for (std::size_t i = 0; i < of_b.size(); ++i)
    for (const Occurrence& occurrence : of_b[i]) in_b.emplace(occurrence, i);
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const std::size_t row = a.event_rows()[i].row;
    for (const Occurrence& occurrence : of_a[i]) {
      const auto same = in_b.find(occurrence);
      if (same == in_b.end()) continue;
      const double there = b.events()[b.event_rows()[same->second].entry];
      if (std::abs(there - a.time()[row]) > reach(a.time(), row)) continue;
      found.emplace_back(row, same->second);
      break;
    }
  }
  return found;
}

GridEvents events_of(const ResultsReader& a, const ResultsReader& b) {
  if (b.event_rows().empty()) return {rows_at(a.events(), b), {}};
  return {rows_at_events(b), partners(a, b)};
}

void require_common_time(const ResultsReader& a, const ResultsReader& b, const Resampling& at_a) {
  if (!at_a.rows().empty()) return;
  char text[200];
  std::snprintf(text, sizeof text, "%g s to %g s and %g s to %g s", a.time().front(),
                a.time().back(), b.time().front(), b.time().back());
  throw InputError("'" + a.path().string() + "' and '" + b.path().string() +
                   "' have no communication points in a common time: " + text);
}

void print_row(int name_width, int unit_width, const VariableError& e) {
  std::printf("%-*s  %-*s  %14.6e  %14.8g  %14.6e  %14.9g\n", name_width, e.name.c_str(),
              unit_width, e.unit.c_str(), e.relative, 100.0 * e.relative, e.maximum,
              e.time_of_maximum);
}

void print_table(const std::vector<VariableError>& errors) {
  std::size_t name_width = 12, unit_width = 4;
  double squares = 0.0, largest = 0.0;
  for (const VariableError& e : errors) {
    name_width = std::max(name_width, e.name.size());
    unit_width = std::max(unit_width, e.unit.size());
    squares += e.relative * e.relative;
    largest = std::isnan(e.relative) ? e.relative : std::max(largest, e.relative);
  }
  const int name = static_cast<int>(name_width), unit = static_cast<int>(unit_width);
  std::printf("%-*s  %-*s  %14s  %14s  %14s  %14s\n", name, "variable", unit, "unit", "relative L2",
              "in %", "maximum", "at time [s]");
  for (const VariableError& e : errors) print_row(name, unit, e);
  const double mean = std::sqrt(squares / static_cast<double>(errors.size()));
  std::printf("%-*s  %-*s  %14.6e  %14.8g  largest %.6e, %zu variables\n", name, "total (rms)",
              unit, "", mean, 100.0 * mean, largest, errors.size());
}

/// In the order of the files again, after the batches.
void sort_as(const std::vector<Pair>& pairs, std::vector<VariableError>& errors) {
  std::unordered_map<std::string, std::size_t> place;
  for (const Pair& pair : pairs) place.emplace(pair.a.name, place.size());
  std::sort(errors.begin(), errors.end(), [&](const VariableError& x, const VariableError& y) {
    return place.at(x.name) < place.at(y.name);
  });
}

}  // namespace

int compare_command(std::span<const std::string> arguments) {
  const ResultsOptions options = read_results_options(compare, arguments, 2);
  const ResultsReader a(options.files[0]), b(options.files[1]);
  const std::vector<Pair> pairs = find_pairs(a, b, options.variables);
  const Resampling at_a(b.time(), a.time(), events_of(a, b));
  require_common_time(a, b, at_a);
  std::vector<VariableError> errors;
  for (const Batch& batch : make_batches(pairs, std::max(a.time().size(), b.time().size())))
    for (VariableError& error : errors_of(batch, a, b, at_a)) errors.push_back(std::move(error));
  sort_as(pairs, errors);

  if (a.model_name() != b.model_name())
    std::printf("different models: '%s' and '%s'\n", a.model_name().c_str(),
                b.model_name().c_str());
  std::printf("error of %s against %s at %zu of %zu communication points, %.9g s to %.9g s\n",
              a.path().c_str(), b.path().c_str(), at_a.rows().size(), a.time().size(),
              a.time()[at_a.rows().front()], a.time()[at_a.rows().back()]);
  print_table(errors);
  return 0;
}

}  // namespace concord
