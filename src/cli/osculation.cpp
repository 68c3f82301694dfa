#include "cli/osculation.hpp"

#include <algorithm>

namespace concord {

void Osculation::add(double time, double value, double slope) {
  for (const bool again : {false, true}) {
    if (again && std::isnan(slope)) continue;
    times_[count_] = time;
    double next = value;
    for (std::size_t k = 0; k <= count_; ++k) {
      const double before = last_[k];
      last_[k] = next;
      if (k == count_) break;
      const double from = times_[count_ - k - 1];
      next = from == time ? slope : (next - before) / (time - from);
    }
    newton_[count_] = last_[count_];
    ++count_;
  }
  ends_[rows_++] = count_;
}

double Osculation::at(double time, std::size_t rows) const {
  const std::size_t count = ends_[rows - 1];
  double value = newton_[count - 1];
  for (std::size_t k = count - 1; k-- > 0;) value = newton_[k] + (time - times_[k]) * value;
  return value;
}

/// That the last of so many rows makes; of two, that slopes make of the line through both.
double Osculation::difference(double begin, double end, std::size_t rows) const {
  double largest = 0.0;
  for (const double share : {0.25, 0.5, 0.75}) {
    const double t = begin + share * (end - begin);
    const double before =
        rows > 2 ? at(t, rows - 1) : (1.0 - share) * at(begin, 2) + share * at(end, 2);
    largest = std::max(largest, std::abs(at(t, rows) - before));
  }
  return largest;
}

std::size_t Osculation::rows_that_tell(double begin, double end, double largest) const {
  if (rows_ < 2) return rows_;
  std::size_t rows = 2;
  while (rows <= rows_ && difference(begin, end, rows) <= largest) ++rows;
  return rows == 2 ? 0 : rows - 1;
}

}  // namespace concord
