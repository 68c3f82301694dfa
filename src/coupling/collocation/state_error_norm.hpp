#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coupling/problem/error_norm.hpp"
#include "network/rank_network.hpp"
#include "signal/signal_ranges.hpp"

namespace concord {

/// ErrorNorm of the states of all ranks, which have no sizes but what they have been.
class StateErrorNorm {
 public:
  StateErrorNorm(const RankNetwork& subsystems, const Tolerance& tolerance, int order);

  void set_order(int order) { norm_.set_order(order); }

  /// At a start or event: what is 0 may rise from nothing.
  void restart(std::span<const double> values);
  /// One macro-step, of each state: what it is wrong by at the end, and how far polynomials of one
  /// more node are from its own within.
  struct Errors {
    std::span<const double> end, inside;
  };
  /// The largest; errors up to `noise` are none. Collective.
  double operator()(double h, const Errors& errors, std::span<const double> values,
                    std::span<const double> noise);
  void commit(std::span<const double> values);

  /// Of state i, which is `value` now.
  double size(std::size_t i, double value) const;

  void io(Archive& archive);

 private:
  void see(std::span<const double> values);

  ErrorNorm norm_;
  std::optional<SignalRanges> ranges_;  ///< where errors are judged by them
  std::vector<double> largest_;         ///< magnitudes so far
};

}  // namespace concord
