#include "subsystem/table/table_signals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

namespace concord {

TableSignals::TableSignals(std::vector<double> times,
                           const std::vector<std::vector<double>>& columns,
                           Interpolation interpolation, Beyond before, Beyond after, double shift)
    : times_(std::move(times)), interpolation_(interpolation), before_(before), after_(after) {
  const std::size_t rows = times_.size();
  for (const std::vector<double>& values : columns) {
    std::vector<double> slopes;
    if (interpolation == Interpolation::cubic && rows > 1) {
      slopes = akima_slopes(times_, values);
    }
    auto& pieces = pieces_.emplace_back();
    for (std::size_t i = 0; i < rows; ++i) {
      const double h = i + 1 < rows ? times_[i + 1] - times_[i] : 0.0;
      if (h == 0.0 || interpolation == Interpolation::step) {
        pieces.push_back({{values[i], 0.0, 0.0, 0.0}});
      } else if (interpolation == Interpolation::linear) {
        pieces.push_back({{values[i], (values[i + 1] - values[i]) / h, 0.0, 0.0}});
      } else {
        const auto c = hermite_piece(h, values[i], slopes[i], values[i + 1], slopes[i + 1]);
        pieces.push_back({{c[0], c[1], c[2], c[3]}});
      }
    }
    Sample& size = sizes_.emplace_back();
    for (const Polynomial& piece : pieces) {
      size.value = std::max(size.value, std::abs(piece.c[0]));
      size.derivative = std::max(size.derivative, std::abs(piece.c[1]));
    }
  }
  find_kinks();
  for (double& t : times_) {
    t += shift;
  }
}

/// Before rows are shifted, which rounds.
void TableSignals::find_kinks() {
  for (std::size_t row = 1; row + 1 < times_.size(); ++row) {
    if (times_[row] == times_[row - 1] || kink_at(row)) {
      kinks_.push_back(row);
    }
  }
  kink_at_first_ = before_ != Beyond::repeat && kink_at_end(before_, false);
  kink_at_last_ = after_ != Beyond::repeat && kink_at_end(after_, true);
}

Polynomial TableSignals::on_piece(std::size_t signal, std::size_t row, double t) const {
  return pieces_[signal][row].moved_to(t - times_[row]);
}

Sample TableSignals::at(std::size_t signal, double t) const {
  const Polynomial signal_at = around(signal, t);
  return {signal_at.c[0], signal_at.c[1]};
}

Polynomial TableSignals::around(std::size_t signal, double t) const {
  if (t < times_.front()) {
    return beyond(signal, before_, t, false);
  }
  if (t >= times_.back()) {
    // Slopes at the last row are asked for right behind it.
    constexpr double rounding = 4.0 * std::numeric_limits<double>::epsilon();
    const bool at_last = t - times_.back() <= rounding * std::abs(times_.back());
    return at_last && after_ == Beyond::error ? at_last_row(signal)
                                              : beyond(signal, after_, t, true);
  }
  const auto next = std::upper_bound(times_.begin(), times_.end(), t);
  return on_piece(signal, static_cast<std::size_t>(next - times_.begin()) - 1, t);
}

/// Its value, with the slope that leads there.
Polynomial TableSignals::at_last_row(std::size_t signal) const {
  const std::size_t last = times_.size() - 1;
  Polynomial result = on_piece(signal, ends_in_jump() ? last : last - 1, times_[last]);
  result.c[0] = pieces_[signal][last].c[0];
  return result;
}

bool TableSignals::ends_in_jump() const {
  const std::size_t rows = times_.size();
  return interpolation_ == Interpolation::step || rows < 2 || times_[rows - 2] == times_[rows - 1];
}

Polynomial TableSignals::beyond(std::size_t signal, Beyond rule, double t, bool after) const {
  const std::size_t rows = times_.size();
  const double end = after ? times_.back() : times_.front();
  switch (rule) {
    case Beyond::hold:
      return {{pieces_[signal][after ? rows - 1 : 0].c[0]}};
    case Beyond::linear: {
      const double value = pieces_[signal][after ? rows - 1 : 0].c[0];
      const double slope = rows < 2 ? 0.0
                           : after  ? on_piece(signal, rows - 2, end).c[1]
                                    : on_piece(signal, 0, end).c[1];
      return {{value + slope * (t - end), slope}};
    }
    case Beyond::repeat:
      return repeated(signal, t);
    case Beyond::error:
      break;
  }
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  return {{nothing, nothing, nothing, nothing}};
}

/// Where the rows begin once more. Every other time of a round follows from this one, so that
/// events and what is looked up at them agree to the last bit.
double TableSignals::start_of(double round) const {
  if (round == 1.0) return times_.back();
  return times_.front() + round * (times_.back() - times_.front());
}

double TableSignals::time_of(std::size_t row, double round) const {
  const double begin = start_of(round), end = start_of(round + 1.0);
  if (times_[row] == times_.front()) return begin;
  if (times_[row] == times_.back()) return end;
  return std::clamp(times_[row] + round * (times_.back() - times_.front()), begin, end);
}

Polynomial TableSignals::repeated(std::size_t signal, double t) const {
  double round = std::floor((t - times_.front()) / (times_.back() - times_.front()));
  if (t < start_of(round)) {
    round -= 1.0;
  } else if (t >= start_of(round + 1.0)) {
    round += 1.0;
  }
  const auto rows = std::views::iota(std::size_t{1}, times_.size());
  const auto later =
      std::ranges::partition_point(rows, [&](std::size_t r) { return time_of(r, round) <= t; });
  const std::size_t row = static_cast<std::size_t>(later - rows.begin());
  return pieces_[signal][row].moved_to(t - time_of(row, round));
}

/// Whether a signal's values or slopes differ by more than rounding of what it is anywhere.
bool TableSignals::differ(std::size_t signal, const Polynomial& left,
                          const Polynomial& right) const {
  constexpr double rounding = 1e-12;
  const Sample& size = sizes_[signal];
  return std::abs(left.c[0] - right.c[0]) > rounding * size.value ||
         std::abs(left.c[1] - right.c[1]) > rounding * size.derivative;
}

/// At an inner row.
bool TableSignals::kink_at(std::size_t row) const {
  for (std::size_t signal = 0; signal < pieces_.size(); ++signal) {
    if (differ(signal, on_piece(signal, row - 1, times_[row]),
               on_piece(signal, row, times_[row]))) {
      return true;
    }
  }
  return false;
}

/// Where the first or the last row ends what the rows say.
bool TableSignals::kink_at_end(Beyond rule, bool after) const {
  if (rule == Beyond::error || times_.size() < 2) {
    return false;
  }
  const double t = after ? times_.back() : times_.front();
  const double outside = after ? t : std::nextafter(t, -std::numeric_limits<double>::infinity());
  for (std::size_t signal = 0; signal < pieces_.size(); ++signal) {
    if (differ(signal, on_piece(signal, after ? times_.size() - 2 : 0, t),
               beyond(signal, rule, outside, after))) {
      return true;
    }
  }
  return false;
}

double TableSignals::count_of_events(double from, double to) const {
  const double once = static_cast<double>(kinks_.size()) + 1.0;
  const double period = times_.back() - times_.front();
  const double repeated = (before_ == Beyond::repeat ? std::max(times_.front() - from, 0.0) : 0.0) +
                          (after_ == Beyond::repeat ? std::max(to - times_.back(), 0.0) : 0.0);
  return repeated > 0.0 ? once * (1.0 + repeated / period) : once;
}

std::vector<double> TableSignals::events(double from, double to) const {
  const double period = times_.back() - times_.front();
  const auto rounds = [&](Beyond rule, double distance) {
    return rule == Beyond::repeat ? std::ceil(std::max(distance, 0.0) / period) + 1.0 : 0.0;
  };
  const double earlier = rounds(before_, times_.front() - from);
  const double later = rounds(after_, to - times_.back());
  std::vector<double> result;
  for (double k = -earlier; k <= later; ++k) {
    for (const std::size_t row : kinks_) {
      result.push_back(time_of(row, k));
    }
    if (k > -earlier || kink_at_first_) {
      result.push_back(start_of(k));
    }
  }
  if (kink_at_last_) {
    result.push_back(times_.back());
  }
  std::erase_if(result, [&](double t) { return !(t > from && t <= to); });
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace concord
