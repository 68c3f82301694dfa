#pragma once

#include <utility>
#include <vector>

#include "simulation/simulation_plan.hpp"
#include "support/messages.hpp"
#include "support/ranks.hpp"

namespace concord {

/// What an archive can pass, as one message.
template <class T>
Bytes packed(T& what) {
  Archive archive;
  archive(what);
  return archive.bytes();
}

template <class T>
T unpacked(Bytes bytes) {
  Archive archive(std::move(bytes));
  T what;
  archive(what);
  return what;
}

/// The first rank's, on all ranks. Collective.
template <class T>
T shared(MPI_Comm comm, T what) {
  Bytes bytes = rank_in(comm) == 0 ? packed(what) : Bytes();
  share_bytes(comm, bytes);
  return unpacked<T>(std::move(bytes));
}

/// Each rank's own, in its order, of what the first rank has for every subsystem of the model.
/// Collective.
template <class T>
std::vector<T> dealt(const SimulationPlan& plan, std::vector<T> all) {
  if (plan.replicated) {
    return shared(plan.comm, std::move(all));
  }
  if (rank_in(plan.comm) != 0) {
    return unpacked<std::vector<T>>(received_bytes(plan.comm, 0));
  }
  std::vector<T> own;
  for (int to = 0; to < ranks_of(plan.comm); ++to) {
    std::vector<T> part;
    for (const std::size_t g : plan.share.subsystems_of(to)) {
      part.push_back(std::move(all[g]));
    }
    if (to == 0) {
      own = std::move(part);
    } else {
      send_bytes(plan.comm, packed(part), to);
    }
  }
  return own;
}

}  // namespace concord
