#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "network/schedule/schedule.hpp"

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
  std::size_t empty_group() const { return empty_.empty() ? nobody : empty_.back(); }
  std::span<const std::size_t> neighbours(std::size_t k) const;

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
  double longest_without(std::size_t a, std::size_t b) const;
  void take_out(std::size_t k);
  void put_in(std::size_t k, std::size_t before, std::size_t after);
  void number();

  const ScheduleProblem& problem_;
  double per_signal_ = 0.0, per_effort_ = 0.0;  ///< of the cost
  std::vector<std::size_t> first_;              ///< of each subsystem's neighbours
  std::vector<std::size_t> who_;
  std::vector<double> received_, given_;
  std::vector<std::size_t> group_, members_, empty_;
  std::vector<std::size_t> next_, previous_;  ///< in the order, a ring through `size()`
  std::vector<double> place_;
  std::vector<double> load_;
  std::set<std::pair<double, std::size_t>> loads_;  ///< of groups, the longest last
  std::vector<Neighbour> near_;
};

}  // namespace concord
