#include "cli/resampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace concord {

Resampling::Resampling(std::span<const double> from, std::span<const double> to)
    : from_(from.begin(), from.end()),
      rounding_(64 * std::numeric_limits<double>::epsilon() *
                std::max(std::abs(from.front()), std::abs(from.back()))) {
  for (std::size_t row = 0; row < to.size(); ++row)
    if (to[row] >= from_.front() - rounding_ && to[row] <= from_.back() + rounding_) {
      rows_.push_back(row);
      stencils_.push_back(make_stencil(to[row]));
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
  s.fraction = (time - from_[s.interval]) / (from_[after] - from_[s.interval]);
  s.points = std::min(most_points, from_.size());
  const std::size_t centred = after > s.points / 2 ? after - s.points / 2 : 0;
  s.first = std::min(centred, from_.size() - s.points);
  for (std::size_t j = 0; j < s.points; ++j) {
    s.weights[j] = 1.0;
    for (std::size_t k = 0; k < s.points; ++k)
      if (k != j)
        s.weights[j] *= (time - from_[s.first + k]) / (from_[s.first + j] - from_[s.first + k]);
  }
  return s;
}

std::vector<double> Resampling::operator()(std::span<const double> values,
                                           std::span<const double> derivatives) const {
  std::vector<double> result;
  result.reserve(stencils_.size());
  for (const Stencil& s : stencils_) {
    const bool smooth = s.points > 1 && !derivatives.empty() &&
                        std::isfinite(derivatives[s.interval] + derivatives[s.interval + 1]);
    result.push_back(smooth ? hermite(s, values, derivatives) : lagrange(s, values));
  }
  return result;
}

double Resampling::lagrange(const Stencil& s, std::span<const double> values) const {
  if (s.points == 1) return values[s.first];
  double sum = 0.0;
  for (std::size_t j = 0; j < s.points; ++j) sum += s.weights[j] * values[s.first + j];
  return sum;
}

double Resampling::hermite(const Stencil& s, std::span<const double> values,
                           std::span<const double> derivatives) const {
  const std::size_t i = s.interval;
  const double h = from_[i + 1] - from_[i], x = s.fraction, y = 1.0 - x;
  return y * y * ((1 + 2 * x) * values[i] + x * h * derivatives[i]) +
         x * x * ((1 + 2 * y) * values[i + 1] - y * h * derivatives[i + 1]);
}

}  // namespace concord
