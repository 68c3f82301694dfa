#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "network/schedule/schedule.hpp"

namespace concord {

/// Who exchanges signals with whom, without signals to oneself.
class SignalNeighbours {
 public:
  explicit SignalNeighbours(const ScheduleProblem& problem);

  /// Of a subsystem: an entry per neighbour and direction.
  std::span<const std::size_t> of(std::size_t k) const {
    return std::span(who_).subspan(first_[k], first_[k + 1] - first_[k]);
  }
  /// Signals from the neighbours and to them, in the same order.
  std::span<const double> received_by(std::size_t k) const {
    return std::span(received_).subspan(first_[k], first_[k + 1] - first_[k]);
  }
  std::span<const double> given_by(std::size_t k) const {
    return std::span(given_).subspan(first_[k], first_[k + 1] - first_[k]);
  }

 private:
  std::vector<std::size_t> first_;  ///< of each subsystem's entries
  std::vector<std::size_t> who_;
  std::vector<double> received_, given_;
};

}  // namespace concord
