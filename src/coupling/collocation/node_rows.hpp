#pragma once

#include <vector>

#include "coupling/collocation/node_system.hpp"
#include "coupling/coupling.hpp"

namespace concord {

/// Inputs and outputs at the nodes of a macro-step and at its ends, for whoever looks inside.
class NodeRows {
 public:
  NodeRows(const RankNetwork& subsystems, const CollocationNodes& nodes);
  NodeRows(const NodeRows&) = delete;
  NodeRows& operator=(const NodeRows&) = delete;

  /// Of a system whose sweeps are done, from the point to the trial.
  void fill(const NodeSystem& system, const CommunicationPoint& point, const Trial& trial);
  const InsideRows& all() const { return all_; }

  /// Per connected input: by how much its polynomial misses what feeds it between the nodes.
  std::span<double> missed() { return missed_; }

  void io(Archive& archive) { CONCORD_MEMBERS_PER(archive, Per::connected, missed_); }

 private:
  std::size_t count_;  ///< of nodes
  std::vector<double> shares_, weights_, counts_;
  std::vector<std::vector<Sample>> inputs_, outputs_;
  std::vector<double> missed_;
  InsideRows all_;
};

}  // namespace concord
