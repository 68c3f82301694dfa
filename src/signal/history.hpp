#pragma once

#include <algorithm>
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

  /// Drops the past (start, events). With `slopes_known` the slopes at this point take the place of
  /// one missing older point, without which a method of order 3 would stay at 2 for the whole run.
  void start(double time, std::span<const Sample> samples, bool slopes_known);

  /// Forgets the newest point; not with order 3, whose oldest point it has taken the place of.
  void drop_newest() {
    newest_ = (newest_ + max_order) % (max_order + 1);
    known_ = std::min(known_ - 1, max_order);
  }

  int known() const { return known_; }
  double time(int age) const { return times_[slot(age)]; }
  double value(int age, std::size_t signal) const { return values_[slot(age)][signal]; }

  /// Lagrange polynomials through the last order + 1 points of the given signals (unequal steps),
  /// in powers of tau = t - time(0). Where fewer points are known: through these, and with the
  /// slope of the first.
  void extrapolate(std::span<const std::size_t> signals, std::span<Polynomial> result) const;

  /// Through the newest max(1, order) known points, at most three, and the new values at tau = h.
  void interpolate(double h, std::span<const std::size_t> signals, std::span<const Sample> ends,
                   std::span<Polynomial> result) const;

 private:
  std::size_t slot(int age) const {
    return static_cast<std::size_t>((newest_ + max_order + 1 - age) % (max_order + 1));
  }

  using Basis = std::array<Polynomial, max_order + 1>;
  Basis lagrange(int points) const;
  void through_newest(int points, std::span<const std::size_t> signals,
                      std::span<Polynomial> result) const;
  Polynomial product(int points) const;
  void add_start_slope(int points, std::span<const std::size_t> signals,
                       std::span<Polynomial> result) const;

  int order_ = 0;
  int known_ = 0;
  int newest_ = 0;
  std::array<double, max_order + 1> times_{};
  std::array<std::vector<double>, max_order + 1> values_;
  std::vector<double> start_slopes_;  ///< empty: not known
};

}  // namespace concord
