#include "subsystem/table/table_signals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace concord {
namespace {

/// Slopes of Akima (1970), "A new method of interpolation and smooth curve fitting", at the rows:
/// those of the lines on both sides, each weighted by how much the line beyond the other one turns.
std::vector<double> akima_slopes(std::span<const double> times, std::span<const double> values) {
  const std::size_t n = times.size();
  std::vector<double> lines(n + 3);  // of rows i-2 to i-1 at i, two beyond either end
  for (std::size_t i = 0; i + 1 < n; ++i) {
    lines[i + 2] = (values[i + 1] - values[i]) / (times[i + 1] - times[i]);
  }
  if (n == 2) {
    return {lines[2], lines[2]};
  }
  lines[1] = 2.0 * lines[2] - lines[3];
  lines[0] = 2.0 * lines[1] - lines[2];
  lines[n + 1] = 2.0 * lines[n] - lines[n - 1];
  lines[n + 2] = 2.0 * lines[n + 1] - lines[n];
  std::vector<double> slopes(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double left = std::abs(lines[i + 1] - lines[i]);
    const double right = std::abs(lines[i + 3] - lines[i + 2]);
    slopes[i] = left + right > 0.0 ? (right * lines[i + 1] + left * lines[i + 2]) / (left + right)
                                   : 0.5 * (lines[i + 1] + lines[i + 2]);
  }
  return slopes;
}

/// Of the cubic with these values and slopes over h.
Polynomial hermite_piece(double h, double from, double from_slope, double to, double to_slope) {
  const double line = (to - from) / h;
  return {{from, from_slope, (3.0 * line - 2.0 * from_slope - to_slope) / h,
           (from_slope + to_slope - 2.0 * line) / (h * h)}};
}

}  // namespace

TableSignals::TableSignals(std::vector<double> times,
                           const std::vector<std::vector<double>>& columns,
                           Interpolation interpolation, Beyond before, Beyond after)
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
        pieces.push_back(hermite_piece(h, values[i], slopes[i], values[i + 1], slopes[i + 1]));
      }
    }
    Sample& size = sizes_.emplace_back();
    for (const Polynomial& piece : pieces) {
      size.value = std::max(size.value, std::abs(piece.c[0]));
      size.derivative = std::max(size.derivative, std::abs(piece.c[1]));
    }
  }
  for (std::size_t row = 1; row + 1 < rows; ++row) {
    if (times_[row] == times_[row - 1] || kink_at(row)) {
      kinks_.push_back(times_[row]);
    }
  }
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
    return t == times_.back() && after_ == Beyond::error ? on_piece(signal, times_.size() - 1, t)
                                                         : beyond(signal, after_, t, true);
  }
  const auto next = std::upper_bound(times_.begin(), times_.end(), t);
  return on_piece(signal, static_cast<std::size_t>(next - times_.begin()) - 1, t);
}

TableSignals::Place TableSignals::place(double t) const {
  const bool beyond = t < times_.front() ? before_ == Beyond::repeat
                                         : t >= times_.back() && after_ == Beyond::repeat;
  if (!beyond) {
    return {0.0, t};
  }
  const double period = times_.back() - times_.front();
  const double phase = t - times_.front(), round = std::floor(phase / period);
  const double within = times_.front() + (phase - period * round);
  return {round, std::min(within, std::nextafter(times_.back(), times_.front()))};
}

/// At a row in the middle, or where the rows begin again.
bool TableSignals::jumps_at(double row) const {
  if (interpolation_ == Interpolation::step) {
    return true;
  }
  if (row == times_.front()) {
    return std::any_of(pieces_.begin(), pieces_.end(), [](const auto& pieces) {
      return pieces.front().c[0] != pieces.back().c[0];
    });
  }
  const auto [first, behind] = std::equal_range(times_.begin(), times_.end(), row);
  return behind - first > 1;
}

/// Of a jump the first time at which the row is reached: what rounding makes of t - shift and of
/// the phase would else have it a little before or behind its event. A kink can be there.
double TableSignals::instant(double round, double row, double shift) const {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto reached = [&](double t) {
    const Place at = place(t - shift);
    return at.round > round || (at.round == round && at.within >= row);
  };
  const double exact = row + round * (times_.back() - times_.front()), t = exact + shift;
  if (reached(t) && !(jumps_at(row) && reached(std::nextafter(t, -infinite)))) {
    return t;
  }
  constexpr double close = 16.0 * std::numeric_limits<double>::epsilon();
  const double width = close * std::max({std::abs(t), std::abs(shift), std::abs(exact),
                                         std::abs(times_.front()), std::abs(times_.back())});
  double before = t - width, after = t + width;
  for (double middle = 0.5 * (before + after); before < middle && middle < after;
       middle = 0.5 * (before + after)) {
    (reached(middle) ? after : before) = middle;
  }
  return after;
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
      return around(signal, place(t).within);
    case Beyond::error:
      break;
  }
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  return {{nothing, nothing, nothing, nothing}};
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

/// Whether the first row, in this repetition, is an event.
bool TableSignals::seam_before(double round) const {
  return round != 0.0 || before_ == Beyond::repeat || kink_at_end(before_, false);
}

bool TableSignals::ends_with_kink() const {
  return after_ != Beyond::repeat && kink_at_end(after_, true);
}

/// The first event later than t.
double TableSignals::event_after(double t, double shift) const {
  const Place at = place(t - shift);
  if (at.within < times_.front() && seam_before(at.round)) {
    return instant(at.round, times_.front(), shift);
  }
  const auto next = std::upper_bound(kinks_.begin(), kinks_.end(), at.within);
  if (next != kinks_.end()) {
    return instant(at.round, *next, shift);
  }
  if (at.round < 0.0 || after_ == Beyond::repeat) {
    return instant(at.round + 1.0, times_.front(), shift);
  }
  return at.within < times_.back() && ends_with_kink() ? instant(at.round, times_.back(), shift)
                                                       : std::numeric_limits<double>::infinity();
}

double TableSignals::count_of_events(double from, double to) const {
  const double once = static_cast<double>(kinks_.size()) + 1.0;
  const double period = times_.back() - times_.front();
  const double repeated = (before_ == Beyond::repeat ? std::max(times_.front() - from, 0.0) : 0.0) +
                          (after_ == Beyond::repeat ? std::max(to - times_.back(), 0.0) : 0.0);
  return repeated > 0.0 ? once * (1.0 + repeated / period) : once;
}

std::vector<double> TableSignals::events(double from, double to, double shift) const {
  const auto later = [](double t) {
    return std::nextafter(t, std::numeric_limits<double>::infinity());
  };
  std::vector<double> result;
  for (double t = event_after(from, shift); t <= to;
       t = std::max(event_after(t, shift), later(t))) {
    result.push_back(t);
  }
  return result;
}

}  // namespace concord
