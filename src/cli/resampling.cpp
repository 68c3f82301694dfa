#include "cli/resampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/event_rows.hpp"

namespace concord {

Resampling::Resampling(std::span<const double> from, std::span<const double> to,
                       const GridEvents& events)
    : rounding_(64 * std::numeric_limits<double>::epsilon() *
                std::max(std::abs(from.front()), std::abs(from.back()))),
      event_rows_(events.rows) {
  from_ = with_left_limits(from, event_rows_, {});
  for (std::size_t i = 0; i < event_rows_.size(); ++i) events_.push_back(event_rows_[i] + i);
  auto partner = events.partners.begin();
  for (std::size_t row = 0; row < to.size(); ++row) {
    while (partner != events.partners.end() && partner->first < row) ++partner;
    const bool behind = partner != events.partners.end() && partner->first == row;
    if (to[row] >= from_.front() - rounding_ && to[row] <= from_.back() + rounding_) {
      rows_.push_back(row);
      stencils_.push_back(behind ? stencil_behind(to[row], events_[partner->second])
                                 : make_stencil(to[row]));
    }
  }
}

/// Of the two rows of an event the second.
Resampling::Stencil Resampling::make_stencil(double time) const {
  const auto above = std::upper_bound(from_.begin(), from_.end(), time + rounding_);
  const auto after = static_cast<std::size_t>(above - from_.begin());
  Stencil s;
  if (std::abs(from_[after - 1] - time) <= rounding_) {
    s.first = after - 1;
    return s;
  }
  s.interval = after - 1;
  s.time = time;
  centre(s, {0, from_.size() - 1});
  return s;
}

/// What follows an event whose first row is `event`, also where the other grid has it earlier.
Resampling::Stencil Resampling::stencil_behind(double time, std::size_t event) const {
  if (time >= from_[event] - rounding_ || event + 2 >= from_.size()) {
    return make_stencil(std::max(time, from_[event]));
  }
  Stencil s;
  s.interval = event + 1;
  s.time = time;
  centre(s, {event + 1, from_.size() - 1});
  return s;
}

/// After a jump the row before is missing: no more than a cubic leads back to it.
void Resampling::centre(Stencil& s, const Piece& piece) const {
  constexpr std::size_t most_outside = 4;
  const std::size_t most = piece.outside ? most_outside : most_points;
  s.points = std::min(most, piece.last - piece.first + 1);
  const std::size_t after = s.interval + 1;
  const std::size_t centred = after > s.points / 2 ? after - s.points / 2 : 0;
  s.first = std::clamp(centred, piece.first, piece.last + 1 - s.points);
  for (std::size_t j = 0; j < s.points; ++j) {
    s.weights[j] = 1.0;
    for (std::size_t k = 0; k < s.points; ++k)
      if (k != j)
        s.weights[j] *= (s.time - from_[s.first + k]) / (from_[s.first + j] - from_[s.first + k]);
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

std::vector<double> Resampling::operator()(std::span<const double> values,
                                           std::span<const double> left,
                                           std::span<const double> derivatives) const {
  const std::vector<double> given = with_left_limits(values, event_rows_, left);
  const std::vector<double> slopes =
      derivatives.empty() ? std::vector<double>() : with_left_limits(derivatives, event_rows_, {});
  const std::vector<SignalBreak> breaks = find_breaks(from_, given, events_);
  std::vector<double> result;
  result.reserve(stencils_.size());
  for (const Stencil& s : stencils_) {
    if (s.points == 1) {
      result.push_back(given[s.first]);
      continue;
    }
    const Piece piece = piece_of(s.interval, breaks, given);
    if (!slopes.empty() && has_slopes(s, piece, given, slopes)) {
      result.push_back(hermite(s, given, slopes));
      continue;
    }
    Stencil inside = s;
    if (!piece.whole(s)) centre(inside, piece);
    result.push_back(lagrange(inside, given));
  }
  return result;
}

/// Slopes of rows at events are those before them, if the rows themselves are; and not those of
/// what follows.
bool Resampling::has_slopes(const Stencil& s, const Piece& piece, std::span<const double> values,
                            std::span<const double> slopes) const {
  const std::size_t end = s.interval + 1;
  const bool before_jump =
      std::binary_search(events_.begin(), events_.end(), end) && values[end] != values[end + 1];
  return !piece.outside && !before_jump && (piece.first < s.interval || s.interval == 0) &&
         s.time >= from_[s.interval] && std::isfinite(slopes[s.interval] + slopes[end]);
}

double Resampling::lagrange(const Stencil& s, std::span<const double> values) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < s.points; ++j) sum += s.weights[j] * values[s.first + j];
  return sum;
}

double Resampling::hermite(const Stencil& s, std::span<const double> values,
                           std::span<const double> derivatives) const {
  const std::size_t i = s.interval;
  const double h = from_[i + 1] - from_[i], x = (s.time - from_[i]) / h, y = 1.0 - x;
  return y * y * ((1 + 2 * x) * values[i] + x * h * derivatives[i]) +
         x * x * ((1 + 2 * y) * values[i + 1] - y * h * derivatives[i + 1]);
}

}  // namespace concord
