#pragma once

#include "coupling/collocation/node_system.hpp"

namespace concord {

/// A collocation method of the same family with more nodes, and what one step of Newton's method
/// makes of the polynomials of another one, whose sweeps are done, with its derivatives: the
/// solution at these nodes but for the square of what they were wrong by.
class FinerNodes {
 public:
  /// `system`: of `nodes`, of as many subsystems.
  FinerNodes(const RankNetwork& subsystems, const CollocationNodes& coarse,
             const CollocationNodes& nodes, NodeSystem& system);

  /// Collective.
  NodeSystem::Sweep sweep(const NodeSystem& coarse);
  /// One more of them, from there. Collective.
  NodeSystem::Sweep sweep_again() { return system_.sweep(NodeSystem::Derivatives::kept); }

  const CollocationNodes& nodes() const { return nodes_; }
  const NodeSystem& system() const { return system_; }
  NodeSystem& system() { return system_; }

 private:
  const RankNetwork& subsystems_;
  CollocationNodes nodes_;
  NodeSystem& system_;
  Eigen::MatrixXd of_slopes_, of_inputs_;  ///< polynomials of the coarse system at these nodes
  std::vector<double> values_;             ///< scratch
};

}  // namespace concord
