#pragma once

#include <cstddef>
#include <vector>

#include "network/schedule/schedule.hpp"

namespace concord {

/// An order of subsystems in which one moves at no cost: a ring through `end()`, and places that
/// tell who comes first without walking it.
class RunningOrder {
 public:
  /// Of `n` subsystems, all of which are in a group: group by group.
  RunningOrder(std::size_t n, const Groups& groups);

  std::size_t begin() const { return next_[end()]; }
  std::size_t end() const { return next_.size() - 1; }
  std::size_t next(std::size_t k) const { return next_[k]; }
  std::size_t previous(std::size_t k) const { return previous_[k]; }
  double place(std::size_t k) const { return place_[k]; }

  void take_out(std::size_t k);
  /// Between two neighbours in the ring.
  void put_in(std::size_t k, std::size_t before, std::size_t after);

 private:
  void link(std::size_t k, std::size_t before, std::size_t after);
  void number();

  std::vector<std::size_t> next_, previous_;
  std::vector<double> place_;
};

}  // namespace concord
