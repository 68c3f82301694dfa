#pragma once

#include <span>
#include <vector>

#include "network/rank_network.hpp"
#include "network/schedule/schedule.hpp"

namespace concord {

/// A schedule on this rank. What a member receives from earlier members of its own group is known
/// when it runs; those that wait for nobody run in stage 0, in parallel, those that wait for
/// members of stage s in stage s + 1.
class Stages {
 public:
  /// Without groups every subsystem is one of its own: a single stage.
  Stages(const RankNetwork& subsystems, const Groups& groups);

  /// The same on every rank.
  std::size_t count() const { return members_.size(); }

  /// Own subsystems of a stage.
  std::span<const std::size_t> members(std::size_t s) const { return members_[s]; }

  /// Their inputs that earlier members of their groups feed; local indices.
  std::span<const std::size_t> known_inputs(std::size_t s) const { return known_[s]; }

 private:
  std::vector<std::vector<std::size_t>> members_, known_;
};

}  // namespace concord
