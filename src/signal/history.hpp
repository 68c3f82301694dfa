#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "signal/polynomial.hpp"

namespace concord {

/// The inputs at the last communication points, newest first, for extrapolation.
class SignalHistory {
 public:
  static constexpr int max_order = 3;

  SignalHistory() = default;
  SignalHistory(std::size_t signals, int order);

  void push(double time, std::span<const Sample> samples);

  /// Drops the past: extrapolation starts again with order 0 (start, events).
  void clear() { known_ = 0; }

  int known() const { return known_; }
  double time(int age) const { return times_[slot(age)]; }
  double value(int age, std::size_t signal) const { return values_[slot(age)][signal]; }

  /// Lagrange polynomials through the last order + 1 points (fewer where fewer are known; unequal
  /// steps) of the given signals, in powers of tau = t - time(0).
  void extrapolate(std::span<const std::size_t> signals, std::span<Polynomial> result) const;

 private:
  std::size_t slot(int age) const {
    return static_cast<std::size_t>((newest_ + max_order + 1 - age) % (max_order + 1));
  }

  int order_ = 0;
  int known_ = 0;
  int newest_ = 0;
  std::array<double, max_order + 1> times_{};
  std::array<std::vector<double>, max_order + 1> values_;
};

}  // namespace concord
