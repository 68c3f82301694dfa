#include "cli/event_rows.hpp"

#include <algorithm>

namespace concord {

std::vector<double> with_left_limits(std::span<const double> values,
                                     std::span<const std::size_t> rows,
                                     std::span<const double> left) {
  std::vector<double> result;
  result.reserve(values.size() + rows.size());
  std::size_t begin = 0;
  for (std::size_t event = 0; event < rows.size(); ++event) {
    const std::size_t row = rows[event];
    result.insert(result.end(), values.begin() + static_cast<std::ptrdiff_t>(begin),
                  values.begin() + static_cast<std::ptrdiff_t>(row));
    result.push_back(left.empty() ? values[row] : left[event]);
    begin = row;
  }
  result.insert(result.end(), values.begin() + static_cast<std::ptrdiff_t>(begin), values.end());
  return result;
}

std::vector<std::size_t> rows_at_events(const ResultsReader& results) {
  const auto& events = results.event_rows();
  std::vector<std::size_t> rows(events.size());
  std::transform(events.begin(), events.end(), rows.begin(),
                 [](const EventRow& event) { return event.row; });
  return rows;
}

}  // namespace concord
