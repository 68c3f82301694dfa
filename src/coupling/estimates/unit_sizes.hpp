#pragma once

#include <vector>

#include "network/rank_network.hpp"

namespace concord {

/// How large the outputs of each unit have become anywhere in the network: what a signal is little
/// beside that has hardly begun, like those at the far end of a chain.
class UnitSizes {
 public:
  /// Collective.
  explicit UnitSizes(const RankNetwork& subsystems);

  /// The sizes of now. Collective.
  void update();

  /// Of outputs in the unit of this rank's output, at the last update.
  double operator[](std::size_t output) const { return largest_[unit_[output]]; }

 private:
  const RankNetwork& subsystems_;
  std::vector<std::size_t> unit_;  ///< of each of this rank's outputs, among those of all ranks
  std::vector<double> largest_;    ///< of each unit
};

}  // namespace concord
