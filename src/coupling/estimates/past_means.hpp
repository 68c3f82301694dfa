#pragma once

#include <array>
#include <vector>

#include "concord/archive.hpp"

namespace concord {

/// Means over the last macro-step of the polynomials through the last values of signals: of what
/// feeds inputs, and of what they were given at the same points.
class PastMeans {
 public:
  static constexpr std::size_t most_points = 6;

  /// Polynomials go through `points` values, as soon as there are so many.
  PastMeans(std::size_t signals, std::size_t points);

  /// A start: there are the values of now only.
  void start();
  /// A macro-step of size h has ended.
  void advance(double h);
  /// Signal j there.
  void set(std::size_t j, double value, double given) {
    values_[0][j] = value;
    given_[0][j] = given;
  }

  double of_values(std::size_t j) const { return through(values_, j); }
  double of_given(std::size_t j) const { return through(given_, j); }

  void io(Archive& archive);

 private:
  using Values = std::array<std::vector<double>, most_points>;

  double through(const Values& values, std::size_t j) const;
  void update_weights();

  std::size_t points_;
  std::size_t known_ = 0, known_of_weights_ = 0;
  Values values_, given_;  ///< the newest first
  std::array<double, most_points> age_{}, weight_{};
  std::array<double, most_points> age_of_weights_{};
};

}  // namespace concord
