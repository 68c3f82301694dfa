#pragma once

#include <Eigen/SparseCore>
#include <span>

#include "simulation/simulation_core.hpp"
#include "support/factorizations.hpp"

namespace concord {

/// The point that a simulation on one process has come to, with other values of inputs that nothing
/// feeds: its outputs follow, nothing happens, and the simulation stays where it is. With
/// `-cosim_type monolithic` the outputs are those before. Throws SimulationError.
CommunicationPoint point_with(SimulationCore& simulation, std::span<const InputChange> inputs);

/// D in y = C x + D u at a communication point: how outputs follow inputs at once, by way of
/// connections and constraints. With g_u of the subsystems' own outputs, side by side, and P of the
/// connections, y' = g_u (P y' + u'), so that D = (I - g_u P)^-1 g_u. As exact as g_u is. Sparse.
class DirectFeedthrough {
 public:
  /// Of a simulation on one process, at its communication point with these inputs. Throws
  /// InputError for subsystems that cannot be linearised, SimulationError for loops and constraints
  /// that don't determine outputs.
  DirectFeedthrough(SimulationCore& simulation, std::span<const Sample> inputs);

  /// D u' for all inputs of the network, of which those that are fed don't count, and D^T y' for
  /// all of its outputs.
  Eigen::VectorXd forward(const Eigen::VectorXd& inputs) const;
  Eigen::VectorXd adjoint(const Eigen::VectorXd& outputs) const;

 private:
  using Sparse = Eigen::SparseMatrix<double>;

  Sparse g_u_;
  Eigen::VectorXd is_free_;  ///< by input: 1, or 0 where it is fed
  SparseFactors forward_, adjoint_;
};

}  // namespace concord
