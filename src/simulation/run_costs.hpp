#pragma once

#include <array>
#include <vector>

#include "concord/subsystem.hpp"
#include "support/phases.hpp"

namespace concord {

class SimulationCore;

/// What a run has cost one rank.
struct RankCosts {
  std::array<double, n_phases> phases{};  ///< s, by Phase
  double memory = 0.0;                    ///< bytes, at most so far, of its process
};

struct RunCosts {
  std::vector<RankCosts> ranks;
  std::vector<Counters> subsystems;  ///< as the model file has them
};

/// On the first rank; empty on the others. Collective.
RunCosts costs_of(const SimulationCore& simulation);

/// The mean over ranks of the time in which they advance subsystems, over the longest; 1 where all
/// have as much to do, or nothing.
double load_balance(const std::vector<RankCosts>& ranks);

}  // namespace concord
