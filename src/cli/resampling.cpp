#include "cli/resampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace concord {

Resampling::Resampling(std::span<const double> from, std::span<const double> to,
                       std::span<const double> events)
    : from_(from.begin(), from.end()),
      rounding_(64 * std::numeric_limits<double>::epsilon() *
                std::max(std::abs(from.front()), std::abs(from.back()))) {
  for (std::size_t row = 0; row < to.size(); ++row)
    if (to[row] >= from_.front() - rounding_ && to[row] <= from_.back() + rounding_) {
      rows_.push_back(row);
      stencils_.push_back(make_stencil(to[row]));
    }
  for (const double event : events) {
    const auto at = std::lower_bound(from_.begin(), from_.end(), event - rounding_);
    if (at != from_.end() && *at <= event + rounding_)
      events_.push_back(static_cast<std::size_t>(at - from_.begin()));
  }
}

Resampling::Stencil Resampling::make_stencil(double time) const {
  const auto above = std::lower_bound(from_.begin(), from_.end(), time);
  const auto after = static_cast<std::size_t>(above - from_.begin());
  Stencil s;
  for (const std::size_t i : {after, after - 1})
    if (i < from_.size() && std::abs(from_[i] - time) <= rounding_) {
      s.first = i;
      return s;
    }
  s.interval = after - 1;
  s.time = time;
  centre(s, {0, from_.size() - 1});
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

Resampling::Piece Resampling::piece_of(std::size_t interval,
                                       std::span<const SignalBreak> breaks) const {
  const auto next = std::partition_point(breaks.begin(), breaks.end(),
                                         [&](const SignalBreak& b) { return b.row <= interval; });
  Piece piece{0, next == breaks.end() ? from_.size() - 1 : next->row};
  if (next != breaks.begin()) {
    const SignalBreak& last = *std::prev(next);
    piece.first = last.row + (last.jump ? 1 : 0);
    piece.outside = last.jump && last.row == interval;
  }
  return piece;
}

std::vector<double> Resampling::operator()(std::span<const double> values,
                                           std::span<const double> derivatives) const {
  const std::vector<SignalBreak> breaks = find_breaks(from_, values, events_);
  std::vector<double> result;
  result.reserve(stencils_.size());
  for (const Stencil& s : stencils_) {
    if (s.points == 1) {
      result.push_back(values[s.first]);
      continue;
    }
    const Piece piece = piece_of(s.interval, breaks);
    const bool slopes = !derivatives.empty() && (piece.first < s.interval || s.interval == 0) &&
                        std::isfinite(derivatives[s.interval] + derivatives[s.interval + 1]);
    if (slopes || piece.whole(s)) {
      result.push_back(slopes ? hermite(s, values, derivatives) : lagrange(s, values));
      continue;
    }
    Stencil inside = s;
    centre(inside, piece);
    result.push_back(lagrange(inside, values));
  }
  return result;
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
