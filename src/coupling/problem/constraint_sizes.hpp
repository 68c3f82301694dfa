#pragma once

#include <vector>

#include "network/rank_network.hpp"

namespace concord {

/// Sizes of outputs that direct constraints keep at 0: what is left of them is rounding of what
/// unknowns make of them, |g_u| |u|, which is their size.
class ConstraintSizes {
 public:
  explicit ConstraintSizes(RankNetwork& subsystems);

  /// At a communication point with these inputs and outputs, where it is the first, second, fourth,
  /// eighth... Collective.
  void see(std::span<const Sample> inputs, std::span<const Sample> outputs);

  void io(Archive& archive) { CONCORD_MEMBERS(archive, seen_); }

 private:
  void find(std::size_t k, std::span<const Sample> inputs, std::span<const Sample> outputs);

  RankNetwork& subsystems_;
  bool any_ = false;                   ///< direct constraints in the network
  std::vector<std::size_t> carriers_;  ///< own ones
  std::vector<Sample> sizes_, offsets_, at_outputs_;
  std::vector<double> g_u_;
  std::int64_t seen_ = 0;
};

}  // namespace concord
