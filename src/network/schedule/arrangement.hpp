#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "network/schedule/group_loads.hpp"
#include "network/schedule/running_order.hpp"
#include "network/schedule/schedule.hpp"
#include "network/schedule/signal_neighbours.hpp"

namespace concord {

/// Groups under improvement: one order of all subsystems, and the group of each. A move costs as
/// much as the subsystem that moves has neighbours.
class Arrangement {
 public:
  Arrangement(const ScheduleProblem& problem, double w, const Groups& groups);

  /// Where a subsystem may go: into a group, right before or after one of its members.
  struct Move {
    std::size_t group;
    std::size_t beside;  ///< nobody, where the group is empty
    bool after;
    double gain;  ///< what (1-w) J_E + w J_D falls by
  };
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  std::size_t group(std::size_t k) const { return group_[k]; }
  std::size_t empty_group() const { return loads_.any_empty() ? loads_.empty() : nobody; }
  std::span<const std::size_t> neighbours(std::size_t k) const { return neighbours_.of(k); }

  /// The best place for k in a group.
  Move best_move(std::size_t k, std::size_t group);
  void make(std::size_t k, const Move& move);

  Groups groups() const;

 private:
  struct Neighbour {
    double place;   ///< in the order
    double gained;  ///< signals known if k comes after it, less those if before
    std::size_t who;
  };

  void collect(std::size_t k, std::size_t group);
  double known_now(std::size_t k) const;

  const ScheduleProblem& problem_;
  double per_signal_ = 0.0, per_effort_ = 0.0;  ///< of the cost
  SignalNeighbours neighbours_;
  RunningOrder order_;
  GroupLoads loads_;
  std::vector<std::size_t> group_;
  std::vector<Neighbour> near_;  ///< scratch
};

}  // namespace concord
