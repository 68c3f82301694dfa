#pragma once

#include <string>

#include "network/model.hpp"
#include "network/rank_network.hpp"
#include "settings/settings.hpp"

namespace concord {

/// Which ranks have which subsystems, with these settings: groups of a hierarchical schedule stay
/// together.
Partition share_of_ranks(const Settings& settings, const Model& model, const Network& network,
                         int ranks);

/// What is simulated, how, and which rank does what; no subsystem is there yet.
struct SimulationPlan {
  /// Reads the options. Throws InputError. Collective.
  SimulationPlan(MPI_Comm ranks, Model described);

  /// Whose ranks share the subsystems: each its own where all compute the whole (monolithic).
  MPI_Comm sharing() const { return replicated ? MPI_COMM_SELF : comm; }
  const Partition& owners() const { return replicated ? whole : share; }

  MPI_Comm comm;
  Model model;
  Settings settings;
  std::string options;  ///< the database as text, for the results file
  Network network;
  Partition share;  ///< who records which subsystem, and who has it where they are shared
  Partition whole;
  bool replicated;
};

}  // namespace concord
