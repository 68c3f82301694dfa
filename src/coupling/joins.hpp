#pragma once

#include <span>
#include <vector>

#include "coupling/coupling.hpp"

namespace concord {

/// Which connected inputs (positions j in RankNetwork::connected_inputs()) begin a macro-step with
/// the slope they had at t_N. All do, where it is known, but for those that it misleads about
/// (signal/hold.hpp): in a layer much shorter than the macro-step. Decided once per macro-step, so
/// that the coupling stays as smooth as the subsystems are.
class Joins {
 public:
  explicit Joins(const RankNetwork& subsystems);

  /// A macro-step begins: no slope is dropped.
  void begin();

  /// Drops slopes that contradict `ends`, a prediction of the inputs at t_N + h; true where some
  /// rank has dropped one. Collective.
  bool drop(const CommunicationPoint& point, std::span<const Sample> ends, double h);

  bool dropped(std::size_t j) const { return dropped_[j] != 0; }
  std::span<const char> dropped() const { return dropped_; }
  bool any_dropped() const { return any_; }  ///< on any rank

 private:
  const RankNetwork& subsystems_;
  std::vector<char> dropped_;
  bool any_ = false;
};

}  // namespace concord
