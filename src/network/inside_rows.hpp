#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "concord/polynomial.hpp"
#include "signal/lagrange.hpp"

namespace concord {

/// This rank's inputs, as they were given, and outputs at points within a macro-step, its ends
/// among them.
struct InsideRows {
  std::span<const double> shares;   ///< the points, ascending, as shares of the macro-step
  std::span<const double> weights;  ///< of values there, in the mean of the polynomial through them
  std::span<const double> counts;   ///< of the same, in what was integrated
  std::span<const std::vector<Sample>> inputs, outputs;  ///< a row for each point
  /// Per connected input: by how much what fed it may have been something else between the points.
  std::span<const double> missed = {};
  bool solved = false;  ///< for inputs and outputs there: means are known far better than ways

  std::size_t count() const { return shares.size(); }

  static constexpr std::size_t most = 8;
  /// What values at the points count for at the share s.
  std::array<double, most> at(double s) const {
    std::array<double, most> result{};
    find_lagrange_weights(shares, s, result);
    return result;
  }

  /// Output o of the polynomials with `at`.
  double output(std::size_t o, const std::array<double, most>& at) const {
    double sum = 0.0;
    for (std::size_t p = 0; p < count(); ++p) sum += at[p] * outputs[p][o].value;
    return sum;
  }

  /// By how much the mean of the polynomial through an output's values is more than what was
  /// integrated of them.
  double not_counted(std::size_t o) const {
    double sum = 0.0;
    for (std::size_t p = 0; p < count(); ++p) sum += (weights[p] - counts[p]) * outputs[p][o].value;
    return sum;
  }
};

}  // namespace concord
