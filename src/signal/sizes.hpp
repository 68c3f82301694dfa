#pragma once

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "concord/archive.hpp"
#include "concord/polynomial.hpp"

namespace concord {

/// What an error is small against: relative |value| + absolute, the latter in the variable's unit
/// where a user has given it, else in units of its size.
struct Tolerance {
  double relative = 1e-6;
  double absolute = 1e-6;
  bool of_size = true;  ///< the absolute part

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
  explicit Sizes(std::vector<double> nominal) : nominal_(std::move(nominal)), size_(nominal_) {
    largest_.resize(size_.size(), 0.0);
  }

  std::size_t count() const { return size_.size(); }
  double operator[](std::size_t i) const { return size_[i]; }
  std::span<const double> values() const { return size_; }

  /// Whether nothing is known but what the slope makes of it.
  bool only_expected(std::size_t i) const { return !(nominal_[i] > 0.0) && largest_[i] == 0.0; }

  /// The values at a communication point, and how fast they change: |slope| times `h` stands for
  /// what has been 0 so far.
  void see(std::span<const Sample> samples, double h);

  /// Sizes that are known otherwise, where they are larger than what was seen.
  void raise(std::span<const Sample> sizes);

  void io(Archive& archive) { archive(largest_, size_); }

 private:
  std::vector<double> nominal_;  ///< 0: not given
  std::vector<double> largest_;
  std::vector<double> size_;
};

}  // namespace concord
