#pragma once

#include <optional>
#include <string>
#include <vector>

#include "network/network.hpp"
#include "network/schedule/schedule.hpp"
#include "support/words.hpp"

namespace concord {

/// How subsystems are shared out among ranks: in the model's order, in pieces of the graph of
/// connections, or by the better of the two.
enum class Placing { automatic, blocks, graph };

template <>
std::span<const WordOf<Placing>> words_of<Placing>();

/// What a placement is judged by.
struct PlacementProblem {
  static constexpr int anywhere = -1;

  ScheduleProblem network;         ///< signals between subsystems, and their efforts
  std::vector<int> wanted;         ///< `rank:` of the model file, or `anywhere`
  std::vector<std::string> alone;  ///< SubsystemDescription::one_per_process

  std::size_t size() const { return wanted.size(); }
};

struct PlacementCosts {
  double load = 1.0;      ///< of the rank with the most work, over the mean
  double cut = 0.0;       ///< signals between ranks / all signals
  int most_partners = 0;  ///< other ranks that a rank exchanges signals with
};

/// Efforts are the model's where it gives all of them, else 1 + states / 10.
PlacementProblem placement_problem(const Model& model, const Network& network);

PlacementCosts costs(const PlacementProblem& problem, const Partition& partition, int ranks);

/// Contiguous blocks of about equal effort, so that neighbours in the model file stay together.
Partition in_blocks(const PlacementProblem& problem, int ranks);

/// Pieces of about equal effort with few signals between them, by PETSc's MatPartitioning
/// (PT-Scotch, -mat_partitioning_type); nothing where PETSc has none. On this process alone.
std::optional<Partition> in_pieces(const PlacementProblem& problem, int ranks);

/// Whole groups that run in parallel, the longest first to the rank with the least work; a group is
/// where the first of its members is wanted.
Partition in_groups(const PlacementProblem& problem, const Groups& groups, int ranks);

/// Subsystems go where `wanted` says (modulo the number of ranks), and those that cannot share a
/// process apart, as far as there are ranks; ranks may remain without any.
Partition place(const PlacementProblem& problem, Placing placing, int ranks);

}  // namespace concord
