#include "cli/resampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/event_rows.hpp"
#include "cli/osculation.hpp"

namespace concord {
namespace {

double extent_of(std::span<const double> values) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return most - least;
}

}  // namespace
Resampling::Resampling(std::span<const double> from, std::span<const double> to,
                       const GridEvents& events)
    : rounding_(64 * std::numeric_limits<double>::epsilon() *
                std::max(std::abs(from.front()), std::abs(from.back()))),
      event_rows_(events.rows) {
  from_ = with_left_limits(from, event_rows_, {});
  for (std::size_t i = 0; i < event_rows_.size(); ++i) events_.push_back(event_rows_[i] + i);
  auto next = events.partners.begin();
  Between around;
  for (std::size_t row = 0; row < to.size(); ++row) {
    for (; next != events.partners.end() && next->first <= row; ++next)
      around.last = events_[next->second];
    around.next.reset();
    if (next != events.partners.end()) around.next = events_[next->second];
    const bool inside = to[row] >= from_.front() - rounding_ && to[row] <= from_.back() + rounding_;
    const bool within_event = around.last && around.last == around.next;
    if (!inside || within_event) continue;
    rows_.push_back(row);
    stencils_.push_back(between(to[row], around));
  }
}

/// On the same side of the events as in the other grid.
Resampling::Stencil Resampling::between(double time, const Between& events) const {
  if (events.last && time < from_[*events.last] - rounding_)
    return stencil_behind(time, *events.last);
  if (events.next && time > from_[*events.next] - rounding_)
    return stencil_before(time, *events.next);
  return make_stencil(time);
}

Resampling::Stencil Resampling::at_row(std::size_t row) const {
  Stencil s;
  s.rows[0] = row;
  return s;
}

/// Of the two rows of an event the second.
Resampling::Stencil Resampling::make_stencil(double time) const {
  const auto above = std::upper_bound(from_.begin(), from_.end(), time + rounding_);
  const auto after = static_cast<std::size_t>(above - from_.begin());
  if (std::abs(from_[after - 1] - time) <= rounding_) return at_row(after - 1);
  Stencil s;
  s.interval = after - 1;
  s.time = time;
  centre(s, {0, from_.size() - 1});
  return s;
}

/// What follows an event whose first row is `event`, where the other grid has it earlier.
Resampling::Stencil Resampling::stencil_behind(double time, std::size_t event) const {
  if (event + 2 >= from_.size()) return at_row(event + 1);
  Stencil s;
  s.interval = event + 1;
  s.time = time;
  centre(s, {event + 1, from_.size() - 1});
  return s;
}

/// What was before an event whose first row is `event`, where the other grid has it later.
Resampling::Stencil Resampling::stencil_before(double time, std::size_t event) const {
  if (time <= from_[event] + rounding_) return at_row(event);
  Stencil s;
  s.interval = event - 1;
  s.time = time;
  centre(s, {0, event});
  return s;
}

/// Whether a row is as far from those taken as its distance from the time asks for: of rows that
/// are closer together the polynomial would continue their difference, which is noise.
bool Resampling::is_apart(const Stencil& s, std::size_t row) const {
  constexpr double least = 0.1;
  const double distance = std::abs(from_[row] - s.time);
  return std::all_of(
      s.rows.begin(), s.rows.begin() + static_cast<std::ptrdiff_t>(s.points),
      [&](std::size_t other) { return std::abs(from_[row] - from_[other]) > least * distance; });
}

/// Rows from `nearest` to `farthest`, up to so many points in all; how many were looked at.
std::size_t Resampling::add_rows(Stencil& s, std::size_t nearest, std::size_t farthest,
                                 std::size_t most) const {
  const bool up = nearest < farthest;
  const std::size_t count = 1 + (up ? farthest - nearest : nearest - farthest);
  std::size_t looked_at = 0;
  for (; looked_at < count && s.points < most; ++looked_at) {
    const std::size_t row = up ? nearest + looked_at : nearest - looked_at;
    if (is_apart(s, row)) s.rows[s.points++] = row;
  }
  return looked_at;
}

/// After a jump the row before is missing: no more than a cubic leads back to it.
void Resampling::centre(Stencil& s, const Piece& piece, std::size_t most) const {
  constexpr std::size_t most_outside = 4;
  if (piece.outside) most = std::min(most, most_outside);
  const bool any_left = s.interval + 1 > piece.first, any_right = s.interval < piece.last;
  const std::size_t left = std::min(s.interval, piece.last);
  std::size_t taken = 0;
  s.points = 0;
  if (any_left) taken = add_rows(s, left, piece.first, any_right ? most / 2 : most);
  if (any_right) add_rows(s, std::max(s.interval + 1, piece.first), piece.last, most);
  if (any_left && left + 1 - taken > piece.first) add_rows(s, left - taken, piece.first, most);
  std::sort(s.rows.begin(), s.rows.begin() + static_cast<std::ptrdiff_t>(s.points));
  for (std::size_t j = 0; j < s.points; ++j) {
    s.weights[j] = 1.0;
    for (std::size_t k = 0; k < s.points; ++k)
      if (k != j)
        s.weights[j] *= (s.time - from_[s.rows[k]]) / (from_[s.rows[j]] - from_[s.rows[k]]);
  }
}

Resampling::Piece Resampling::piece_of(std::size_t interval, std::span<const SignalBreak> breaks,
                                       std::span<const double> values) const {
  const auto next = std::partition_point(breaks.begin(), breaks.end(),
                                         [&](const SignalBreak& b) { return b.row <= interval; });
  Piece piece{0, next == breaks.end() ? from_.size() - 1 : next->row};
  if (next != breaks.begin()) {
    const SignalBreak& last = *std::prev(next);
    piece.first = last.row + (last.jump ? 1 : 0);
    piece.outside = last.jump && last.row == interval;
  }
  const bool unknown = std::binary_search(events_.begin(), events_.end(), piece.last) &&
                       std::isnan(values[piece.last]) && piece.last > piece.first;
  if (unknown) piece.outside |= --piece.last == interval;
  return piece;
}

std::vector<double> Resampling::operator()(const SignalRows& signal) const {
  const std::vector<double> given = with_left_limits(signal.values, event_rows_, signal.left);
  std::vector<double> slopes;
  if (!signal.slopes.empty()) {
    const std::vector<double> unknown(event_rows_.size(), std::numeric_limits<double>::quiet_NaN());
    slopes = with_left_limits(signal.slopes, event_rows_,
                              signal.left_slopes.empty() ? unknown : signal.left_slopes);
  }
  const std::vector<SignalBreak> breaks = find_breaks(from_, given, slopes, events_);
  const double range = extent_of(given);
  std::vector<double> result;
  result.reserve(stencils_.size());
  for (const Stencil& s : stencils_) {
    if (s.points == 1) {
      result.push_back(given[s.rows[0]]);
      continue;
    }
    const Piece piece = piece_of(s.interval, breaks, given);
    Stencil inside = s;
    if (!piece.whole(s)) centre(inside, piece);
    std::optional<double> value;
    if (!slopes.empty()) value = osculating(inside, piece, given, slopes, range);
    result.push_back(value ? *value : lagrange(inside, given));
  }
  return result;
}

double Resampling::lagrange(const Stencil& s, std::span<const double> values) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < s.points; ++j) sum += s.weights[j] * values[s.rows[j]];
  return sum;
}

/// Whether the row has one, of the piece: at a break that the signal shows nobody knows whose it
/// is.
bool Resampling::is_slope(std::size_t row, const Piece& piece,
                          std::span<const double> slopes) const {
  const bool begins_at_break =
      row == piece.first && row > 0 && !std::binary_search(events_.begin(), events_.end(), row - 1);
  const bool ends_at_break = row == piece.last && row + 1 < from_.size() &&
                             !std::binary_search(events_.begin(), events_.end(), row);
  return std::isfinite(slopes[row]) && !begins_at_break && !ends_at_break;
}

/// With values and slopes of up to four rows: they are nearer than the eight of `without`. Nothing
/// where they would say less than these.
std::optional<double> Resampling::osculating(const Stencil& without, const Piece& piece,
                                             std::span<const double> values,
                                             std::span<const double> slopes, double range) const {
  if (piece.outside || without.time < from_[without.interval]) return std::nullopt;
  Stencil s = without;
  centre(s, piece, Osculation::most_rows);
  const double begin = from_[s.interval], end = from_[s.interval + 1];
  const auto away = [&](std::size_t row) {
    return std::max({0.0, begin - from_[row], from_[row] - end});
  };
  const auto rows = std::span(s.rows).first(s.points);
  std::ranges::stable_sort(rows, {}, away);
  Osculation curve;
  for (const std::size_t row : rows)
    curve.add(
        from_[row], values[row],
        is_slope(row, piece, slopes) ? slopes[row] : std::numeric_limits<double>::quiet_NaN());
  const std::size_t count = curve.conditions();
  if (count == s.points || count + 1 < without.points) return std::nullopt;
  const std::size_t known = curve.rows_that_tell(begin, end, range);
  return known == 0 ? std::nullopt : std::optional(curve.at(without.time, known));
}

}  // namespace concord
