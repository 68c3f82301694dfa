#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "network/model.hpp"
#include "network/rank_network.hpp"
#include "network/written_parts.hpp"
#include "settings/settings.hpp"
#include "support/call_log.hpp"

namespace concord {

/// Which ranks have which subsystems, with these settings: groups of a hierarchical schedule stay
/// together.
Partition share_of_ranks(const Settings& settings, const Model& model, const Network& network,
                         int ranks);

/// A new log of calls, on several ranks a file for each; null without a path. Throws InputError.
/// Collective.
std::shared_ptr<CallLog> new_call_log(MPI_Comm comm, std::filesystem::path path);

/// What is simulated, how, and which rank does what; no subsystem is there yet.
struct SimulationPlan {
  /// Reads the options and makes the trials that they call for. Throws InputError. Collective.
  SimulationPlan(MPI_Comm ranks, Model described);

  /// Whose ranks share the subsystems: each its own where all compute the whole (monolithic).
  MPI_Comm sharing() const { return replicated ? MPI_COMM_SELF : comm; }
  const Partition& owners() const { return replicated ? whole : share; }

  MPI_Comm comm;
  Model model;
  Settings settings;
  std::string options;  ///< the database as text, for the results file
  Network network;
  WrittenVariables written;  ///< by which users know them
  Partition share;           ///< who records which subsystem, and who has it where they are shared
  Partition whole;
  bool replicated;
};

}  // namespace concord
