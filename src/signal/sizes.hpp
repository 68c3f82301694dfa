#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "concord/archive.hpp"
#include "concord/polynomial.hpp"

namespace concord {

/// What an error is small against: relative |value| + absolute, the latter in the variable's unit
/// where a user has given it, else in units of its size.
struct Tolerance {
  double relative = 1e-6;
  double absolute = 1e-6;
  bool of_size = true;    ///< the absolute part
  bool of_range = false;  ///< sizes are those of what a variable has gone through (SignalRanges)

  double of(double value, double size) const {
    return relative * std::abs(value) + absolute * (of_size ? size : 1.0);
  }
  /// The magnitude below which the absolute part is the larger one.
  double floor(double size) const { return absolute / relative * (of_size ? size : 1.0); }
};

/// How large each of some variables is, in its unit: its nominal value, else the largest magnitude
/// it has had at communication points, else (still 0 there) what its slope makes of it within a
/// macro-step. What is still 0 has never been anything else. Tolerances, floors, increments of
/// differences and comparisons follow from it.
class Sizes {
 public:
  explicit Sizes(const std::vector<double>& nominal);

  std::size_t count() const { return count_; }
  double operator[](std::size_t i) const { return numbers_[i]; }
  std::span<const double> values() const { return std::span(numbers_).first(count_); }

  bool is_nominal(std::size_t i) const { return numbers_[2 * count_ + i] > 0.0; }

  /// Whether nothing is known but what the slope makes of it.
  bool only_expected(std::size_t i) const { return !is_nominal(i) && largest()[i] == 0.0; }

  /// The values at a communication point, and how fast they change: |slope| times `h` stands for
  /// what has been 0 so far.
  void see(std::span<const Sample> samples, double h) {
    for (std::size_t i = 0; i < count_; ++i) see(i, samples[i], h);
  }
  void see(std::size_t i, const Sample& sample, double h);

  /// Sizes that are known otherwise, where they are larger than what was seen.
  void raise(std::span<const Sample> sizes);

  void io(Archive& archive) { CONCORD_MEMBERS(archive, numbers_); }
  void io(Archive& archive, Per kind) {
    for (const std::size_t part : {0, 1, 2}) {
      archive.per(kind, std::span(numbers_).subspan(part * count_, count_));
    }
  }

 private:
  const double* largest() const { return numbers_.data() + count_; }
  double* largest() { return numbers_.data() + count_; }

  std::size_t count_;
  /// Sizes, the largest magnitudes, and nominal values (0: not given); rollback copies them in
  /// every macro-step.
  std::vector<double> numbers_;
};

}  // namespace concord
