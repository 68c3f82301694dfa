#include "cli/dense_curves.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "cli/event_rows.hpp"
#include "cli/shown_units.hpp"
#include "cli/signal_rows.hpp"

namespace concord {
namespace {

/// Rows, and evenly between them points that are at most `distance` apart.
std::vector<double> filled_up(const std::vector<double>& rows, double distance) {
  std::vector<double> points;
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    const double h = rows[i + 1] - rows[i];
    const auto parts = static_cast<std::size_t>(std::max(1.0, std::ceil(h / distance)));
    for (std::size_t k = 0; k < parts; ++k)
      points.push_back(rows[i] + h * static_cast<double>(k) / static_cast<double>(parts));
  }
  points.push_back(rows.back());
  return points;
}

std::vector<std::size_t> places_of(const std::vector<std::size_t>& rows,
                                   const std::vector<double>& time,
                                   const std::vector<double>& points) {
  std::vector<std::size_t> places;
  for (const std::size_t row : rows)
    places.push_back(static_cast<std::size_t>(
        std::lower_bound(points.begin(), points.end(), time[row]) - points.begin()));
  return places;
}

}  // namespace

DenseCurves::DenseCurves(const ResultsReader& results,
                         std::optional<std::pair<double, double>> range, std::size_t least)
    : results_(results), events_(rows_at_events(results)) {
  const auto& rows = results.time();
  const auto [from, to] = range.value_or(std::pair(rows.front(), rows.back()));
  const auto row_at = [](const std::vector<double>& times, double time) {
    return static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), time) -
                                    times.begin());
  };
  std::vector<double> points = rows;
  if (row_at(rows, to) - row_at(rows, from) < least && to > from) {
    points = filled_up(rows, (to - from) / static_cast<double>(least));
    between_.emplace(rows, points, GridEvents{events_, {}});
    events_ = places_of(events_, rows, points);
  }
  const auto all = with_left_limits(points, events_, {});
  begin_ = row_at(all, from) - (row_at(all, from) > 0 ? 1 : 0);  // lines go on beyond the frame
  end_ = std::min(row_at(all, to) + 2, all.size());
  time_.assign(all.begin() + static_cast<std::ptrdiff_t>(begin_),
               all.begin() + static_cast<std::ptrdiff_t>(end_));
}

std::vector<double> DenseCurves::values(const RecordedVariable& variable) const {
  auto all = own_values(variable);
  show(variable, all);
  return all;
}

std::vector<double> DenseCurves::own_values(const RecordedVariable& variable) const {
  const std::size_t column[] = {variable.column};
  const auto left = results_.read_left_columns(variable.quantity, column).front();
  const std::vector<double> right = between_
                                        ? resampled(results_, variable, *between_)
                                        : results_.read_columns(variable.quantity, column).front();
  const auto all = with_left_limits(right, events_, left);
  return {all.begin() + static_cast<std::ptrdiff_t>(begin_),
          all.begin() + static_cast<std::ptrdiff_t>(end_)};
}

std::vector<double> resampled(const ResultsReader& results, const RecordedVariable& variable,
                              const Resampling& between) {
  const std::size_t column[] = {variable.column};
  return between(read_signals(results, variable.quantity, column).front());
}

}  // namespace concord
