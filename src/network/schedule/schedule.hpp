#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "network/network.hpp"

namespace concord {

/// Who runs with whose new outputs: groups run in parallel, members of a group in sequence, each
/// with the new outputs of the members before it (Holzinger and Benedikt 2019). Every subsystem is
/// in exactly one group.
using Groups = std::vector<std::vector<std::size_t>>;

/// Up to so many subsystems schedules are optimal: 2^20 sets, 45 bytes each, and of their subsets
/// those that bounds leave.
constexpr std::size_t largest_exact_schedule = 20;

/// What a schedule is judged by.
struct ScheduleProblem {
  /// So many signals from one subsystem.
  struct Signals {
    std::size_t from;
    double count;
  };
  std::vector<std::vector<Signals>> received;  ///< by each subsystem, every sender once
  std::vector<double> effort;                  ///< of a macro-step, greater than zero
  std::size_t size() const { return effort.size(); }
};

struct ScheduleCosts {
  double extrapolated = 0.0;  ///< J_E: signals that must be extrapolated / all signals
  double duration = 0.0;      ///< J_D: largest group effort / total effort
  double weighted(double w) const { return (1.0 - w) * extrapolated + w * duration; }
};

/// Signals between subsystems: of each subsystem every sender once. `weights`: what the signal of
/// each input counts for; empty: 1 each.
std::vector<std::vector<ScheduleProblem::Signals>> received_signals(
    const Network& network, std::span<const double> weights = {});

/// Connections, with their weights, and `effort` of the model file; where no subsystem gives an
/// effort, states + 1. Throws InputError where only some do.
ScheduleProblem schedule_problem(const Model& model, const Network& network);

ScheduleCosts costs(const ScheduleProblem& problem, const Groups& groups);

/// All subsystems one after the other; the fewest extrapolated signals. Exact up to 20 subsystems.
Groups best_sequence(const ScheduleProblem& problem);

/// Minimises (1-w) J_E + w J_D, w in [0,1] (Holzinger and Benedikt 2019, eq. (10)). Exact up to 20
/// subsystems, by bounds and dynamic programming over subsets; beyond, by simulated annealing. Of
/// equally good schedules, parts of a group without a signal between them run side by side only
/// where that makes the longest group shorter.
Groups best_groups(const ScheduleProblem& problem, double w);

/// "[a, b] [c]": groups as in the model file.
std::string written(const Groups& groups, const Model& model);

/// The groups of the model file by position, or nothing where it gives none; what stands for a
/// constraint is in a group of its own. Throws InputError for unknown names, a subsystem in two
/// groups or in none.
Groups given_groups(const Model& model);

}  // namespace concord
