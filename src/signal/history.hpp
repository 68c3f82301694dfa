#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "concord/archive.hpp"
#include "signal/hold.hpp"

namespace concord {

/// The inputs at the last communication points, newest first, for extrapolation.
///
/// `hermite` takes slopes too, in the order u_N, u'_N, u_{N-1}, u'_{N-1}: half the past, smaller
/// errors, and the whole order after one macro-step (order 1: at once).
class SignalHistory {
 public:
  static constexpr int max_order = 3;

  SignalHistory() = default;
  SignalHistory(std::size_t signals, int order, Extrapolation kind = Extrapolation::lagrange);

  /// `h`: exactly how far the point lies behind the one before. With `hermite`, slopes count.
  void push(double h, std::span<const Sample> samples);

  /// Drops the past (start, events). With `slopes_known` the slopes at this point take the place of
  /// one missing older point, without which a method of order 3 would stay at 2 for the whole run.
  void start(std::span<const Sample> samples, bool slopes_known);

  /// Forgets the newest point; not with order 3, whose oldest point it has taken the place of.
  void drop_newest() {
    newest_ = (newest_ + max_order) % (max_order + 1);
    known_ = std::min(known_ - 1, max_order);
  }

  int known() const { return known_; }
  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, known_, newest_, steps_);
    CONCORD_MEMBERS_PER(archive, Per::input, start_slopes_);
    for (std::size_t slot = 0; slot < values_.size(); ++slot) {
      CONCORD_MEMBERS_PER(archive, Per::input, values_[slot], slopes_[slot]);
    }
  }
  /// tau of a point: 0 for the newest, negative for the others.
  double tau(int age) const;
  double value(int age, std::size_t signal) const { return values_[slot(age)][signal]; }

  /// Polynomials through the last order + 1 points of the given signals (lagrange), or through
  /// order + 1 of their values and slopes (hermite), in powers of tau = t - t_N; steps may be
  /// unequal. Where fewer points are known: through these, and with the slope of the first.
  void extrapolate(std::span<const std::size_t> signals, std::span<Polynomial> result) const;

  /// Through the newest max(1, order) known points, at most three, and the new values at tau = h;
  /// hermite: values and slopes at tau = 0 and h.
  void interpolate(double h, std::span<const std::size_t> signals, std::span<const Sample> ends,
                   std::span<Polynomial> result) const;

  /// Through the newest known points, at most three, and the new values at tau = h, whatever the
  /// order: what the signals were, as well as their values tell.
  void reconstruct(double h, std::span<const std::size_t> signals, std::span<const Sample> ends,
                   std::span<Polynomial> result) const;

 private:
  std::size_t slot(int age) const {
    return static_cast<std::size_t>((newest_ + max_order + 1 - age) % (max_order + 1));
  }

  using Basis = std::array<Polynomial, max_order + 1>;
  Basis lagrange(int points) const;
  void through_newest(int points, std::span<const std::size_t> signals,
                      std::span<Polynomial> result) const;
  void through_newest_and(int points, double h, std::span<const std::size_t> signals,
                          std::span<const Sample> ends, std::span<Polynomial> result) const;
  Polynomial tangent(std::size_t signal) const;
  Polynomial product(int points) const;
  void add_start_slope(int points, std::span<const std::size_t> signals,
                       std::span<Polynomial> result) const;

  int order_ = 0;
  Extrapolation kind_ = Extrapolation::lagrange;
  int known_ = 0;
  int newest_ = 0;
  std::array<double, max_order + 1> steps_{};  ///< from the point before to each
  std::array<std::vector<double>, max_order + 1> values_;
  std::array<std::vector<double>, max_order + 1> slopes_;  ///< hermite only
  std::vector<double> start_slopes_;                       ///< empty: not known
};

}  // namespace concord
