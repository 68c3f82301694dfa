#include "signal/sampled_signals.hpp"

#include <algorithm>
#include <limits>

namespace concord {

/// On the line from `row` to the next, whose times differ.
Sample SampledSignals::on_line(const Signal& signal, std::size_t row, double t) const {
  const double from = signal.values[row];
  if (signal.held) return {from, 0.0};
  const double slope = (signal.values[row + 1] - from) / (times_[row + 1] - times_[row]);
  return {t == times_[row + 1] ? signal.values[row + 1] : from + slope * (t - times_[row]), slope};
}

Sample SampledSignals::from_right(std::size_t signal, double t) const {
  const Signal& s = signals_[signal];
  const auto next = std::upper_bound(times_.begin(), times_.end(), t);
  if (next == times_.begin()) return {s.values.front(), 0.0};
  if (next == times_.end()) return {s.values.back(), 0.0};
  return on_line(s, static_cast<std::size_t>(next - times_.begin()) - 1, t);
}

Sample SampledSignals::from_left(std::size_t signal, double t) const {
  const Signal& s = signals_[signal];
  const auto next = std::lower_bound(times_.begin(), times_.end(), t);
  if (next == times_.begin()) return {s.values.front(), 0.0};
  if (next == times_.end()) return {s.values.back(), 0.0};
  return on_line(s, static_cast<std::size_t>(next - times_.begin()) - 1, t);
}

double SampledSignals::next_row(double t) const {
  const auto next = std::upper_bound(times_.begin(), times_.end(), t);
  return next == times_.end() ? std::numeric_limits<double>::infinity() : *next;
}

std::vector<double> SampledSignals::jumps() const {
  std::vector<double> result;
  for (std::size_t row = 1; row < times_.size(); ++row) {
    const bool twice = times_[row] == times_[row - 1];
    const bool jumps = std::any_of(signals_.begin(), signals_.end(), [&](const Signal& signal) {
      return (twice || signal.held) && signal.values[row] != signal.values[row - 1];
    });
    if (jumps && (result.empty() || result.back() != times_[row])) result.push_back(times_[row]);
  }
  return result;
}

}  // namespace concord
