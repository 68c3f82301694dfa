#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace concord {

/// Newton's polynomial through up to four rows of a signal with values and slopes, those of an
/// interval first, then others, the nearest first.
class Osculation {
 public:
  static constexpr std::size_t most_rows = 4;

  /// `slope`: NaN where it is not known. The same row comes once.
  void add(double time, double value, double slope);

  std::size_t conditions() const { return count_; }

  /// How many of the rows say something of [begin, end]: neither slopes at its ends nor any further
  /// row makes a difference above `largest` there, by which the signal moves at all. 0: not even
  /// the former do. Beside a boundary layer a polynomial through all would go anywhere.
  std::size_t rows_that_tell(double begin, double end, double largest) const;

  /// With the first rows only.
  double at(double time, std::size_t rows) const;

 private:
  double difference(double begin, double end, std::size_t rows) const;

  std::size_t rows_ = 0, count_ = 0;
  std::array<std::size_t, most_rows> ends_{};  ///< coefficients of so many rows
  std::array<double, 2 * most_rows> times_{}, newton_{};
  std::array<double, 2 * most_rows> last_{};  ///< divided differences of what came last, by order
};

}  // namespace concord
