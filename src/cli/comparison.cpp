#include "cli/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cli/event_rows.hpp"
#include "cli/resampling.hpp"
#include "cli/shown_units.hpp"
#include "cli/signal_rows.hpp"
#include "concord/errors.hpp"
#include "support/name_patterns.hpp"

namespace concord {
namespace {

constexpr std::size_t doubles_at_once = std::size_t{1} << 25;

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
  VariableError error{pair.a.name,
                      pair.a.unit,
                      0.0,
                      0.0,
                      time[rows.front()],
                      0.0,
                      pair.a.display,
                      conversion_to_shown(pair.a).factor};
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

/// Of the finite values; of one that is constant up to rounding its size.
double range_of(std::span<const double> values) {
  constexpr double rounding = 1e-12;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (least > most) return 0.0;
  const double size = std::max(std::abs(least), std::abs(most));
  return most - least > rounding * size ? most - least : size;
}

std::vector<VariableError> errors_of(const Batch& batch, const ResultsReader& a,
                                     const ResultsReader& b, const Resampling& at_a) {
  std::vector<std::size_t> columns_a, columns_b;
  for (const Pair& pair : batch) {
    columns_a.push_back(pair.a.column);
    columns_b.push_back(pair.b.column);
  }
  const auto values_a = a.read_columns(batch.front().a.quantity, columns_a);
  const std::vector<SignalRows> signals_b = read_signals(b, batch.front().b.quantity, columns_b);
  std::vector<VariableError> errors;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    errors.push_back(error_of(batch[i], a.time(), at_a.rows(), values_a[i], at_a(signals_b[i])));
    errors.back().range = range_of(signals_b[i].values);
  }
  return errors;
}

/// Balance errors and residuals of constraints are errors themselves: compared only where they are
/// asked for.
std::vector<std::string> names_of(const ResultsReader& results, bool with_errors) {
  std::vector<std::string> names;
  const std::vector<std::string> residuals = results.residuals();
  for (const RecordedVariable& v : results.variables()) {
    const bool error = v.quantity == "/balance/values" ||
                       std::find(residuals.begin(), residuals.end(), v.name) != residuals.end();
    if (with_errors || !error) names.push_back(v.name);
  }
  return names;
}

/// The names of both files, those of A first.
std::vector<std::string> all_names(const ResultsReader& a, const ResultsReader& b,
                                   bool with_errors) {
  std::vector<std::string> names = names_of(a, with_errors);
  const std::unordered_set<std::string> in_a(names.begin(), names.end());
  for (const std::string& name : names_of(b, with_errors))
    if (!in_a.contains(name)) names.push_back(name);
  return names;
}

/// The variables to compare, and into `result` those that one file lacks.
std::vector<Pair> find_pairs(const ResultsReader& a, const ResultsReader& b,
                             const std::vector<std::string>& wanted, Comparison& result) {
  const std::string where = "'" + a.path().string() + "' or '" + b.path().string() + "'";
  const auto index = [](const ResultsReader& results) {
    std::unordered_map<std::string, const RecordedVariable*> by_name;
    for (const RecordedVariable& v : results.variables()) by_name.emplace(v.name, &v);
    return by_name;
  };
  const auto in_a = index(a), in_b = index(b);
  std::vector<Pair> pairs;
  for (const std::string& name : chosen_names(wanted, all_names(a, b, !wanted.empty()), where)) {
    if (!in_a.contains(name))
      result.not_in_a.push_back(name);
    else if (!in_b.contains(name))
      result.not_in_b.push_back(name);
    else
      pairs.push_back({*in_a.at(name), *in_b.at(name)});
  }
  if (pairs.empty())
    throw InputError("'" + a.path().string() + "' and '" + b.path().string() + "' have no " +
                     (wanted.empty() ? "" : "such ") + "variable in common");
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

/// In whom, and what.
using Occurrence = std::pair<std::string, std::string>;

/// For each of event_rows() what happened there.
std::vector<std::vector<Occurrence>> occurrences(const ResultsReader& results) {
  const std::vector<RecordedEvent> events = results.read_events();
  std::vector<std::vector<Occurrence>> result;
  for (const EventRow& row : results.event_rows()) {
    auto& here = result.emplace_back();
    for (std::size_t i = row.entry; i < events.size(); ++i) {
      if (results.events()[i] != results.events()[row.entry]) break;
      here.emplace_back(events[i].subsystem, events[i].what);
    }
  }
  return result;
}

/// Half of the largest macro-step around the row: what is further away is another event. Two on
/// either side, since one may be what rounding has left between two events.
double reach(const std::vector<double>& time, std::size_t row) {
  const std::size_t first = row < 2 ? 0 : row - 2, last = std::min(row + 2, time.size() - 1);
  double largest = 0.0;
  for (std::size_t i = first; i < last; ++i) largest = std::max(largest, time[i + 1] - time[i]);
  return 0.5 * largest;
}

/// The events of one file by what happened, ascending.
class EventsByOccurrence {
 public:
  explicit EventsByOccurrence(const ResultsReader& results) : results_(results) {
    const auto all = occurrences(results);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const Occurrence& occurrence : all[i]) by_occurrence_[occurrence].push_back(i);
  }

  /// Where the same happened next to a time.
  std::optional<std::size_t> nearest(const Occurrence& occurrence, double time) const {
    const auto found = by_occurrence_.find(occurrence);
    if (found == by_occurrence_.end()) return std::nullopt;
    const auto& events = found->second;
    const auto later = std::partition_point(events.begin(), events.end(),
                                            [&](std::size_t i) { return time_of(i) < time; });
    if (later == events.begin()) return *later;
    const auto earlier = std::prev(later);
    if (later == events.end() || time - time_of(*earlier) < time_of(*later) - time) return *earlier;
    return *later;
  }

  double time_of(std::size_t i) const { return results_.time()[results_.event_rows()[i].row]; }

 private:
  const ResultsReader& results_;
  std::map<Occurrence, std::vector<std::size_t>> by_occurrence_;
};

/// Rows of A that follow an event of B, which the runs have found a little earlier or later. Where
/// several happen at one instant of A, it is the last of B's.
std::vector<std::pair<std::size_t, std::size_t>> partners(const ResultsReader& a,
                                                          const ResultsReader& b) {
  const EventsByOccurrence in_b(b);
  const auto of_a = occurrences(a);
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const std::size_t row = a.event_rows()[i].row;
    const double time = a.time()[row], furthest = reach(a.time(), row);
    std::optional<std::size_t> partner;
    for (const Occurrence& occurrence : of_a[i]) {
      const auto same = in_b.nearest(occurrence, time);
      if (same && std::abs(in_b.time_of(*same) - time) <= furthest)
        partner = std::max(partner.value_or(0), *same);
    }
    if (partner && (found.empty() || found.back().second <= *partner))
      found.emplace_back(row, *partner);
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

/// In the order of the files again, after the batches.
void sort_as(const std::vector<Pair>& pairs, std::vector<VariableError>& errors) {
  std::unordered_map<std::string, std::size_t> place;
  for (const Pair& pair : pairs) place.emplace(pair.a.name, place.size());
  std::sort(errors.begin(), errors.end(), [&](const VariableError& x, const VariableError& y) {
    return place.at(x.name) < place.at(y.name);
  });
}

}  // namespace

double VariableError::of_range() const {
  if (maximum == 0.0) return 0.0;
  return range > 0.0 ? maximum / range : std::numeric_limits<double>::infinity();
}

Comparison compared(const ResultsReader& a, const ResultsReader& b,
                    const std::vector<std::string>& wanted) {
  Comparison result;
  const std::vector<Pair> pairs = find_pairs(a, b, wanted, result);
  const Resampling at_a(b.time(), a.time(), events_of(a, b));
  require_common_time(a, b, at_a);
  for (const Batch& batch : make_batches(pairs, std::max(a.time().size(), b.time().size())))
    for (VariableError& error : errors_of(batch, a, b, at_a))
      result.errors.push_back(std::move(error));
  sort_as(pairs, result.errors);
  result.rows = at_a.rows().size();
  result.begin = a.time()[at_a.rows().front()];
  result.end = a.time()[at_a.rows().back()];
  return result;
}

}  // namespace concord
