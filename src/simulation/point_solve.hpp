#pragma once

#include <Eigen/Core>
#include <string>
#include <utility>
#include <vector>

#include "simulation/point_system.hpp"

namespace concord {

/// Of its absolute values; 0 of none.
double largest(const Eigen::VectorXd& g);
/// Positions, the largest absolute value first.
std::vector<Eigen::Index> by_size(const Eigen::VectorXd& g);

/// The point nearest to the start at which the equations without rates, which come last, hold: from
/// there what is free acts as it will.
Eigen::VectorXd where_held(PointSystem& system);

enum class PointOutcome { found, nothing_found, relations_chatter, recedes, homotopy_ends };

/// Why nothing was found, where the outcome is homotopy_ends.
std::string homotopy_ends(double part);

/// Where the equations of a PointSystem hold, from z on. By Newton's method (PETSc's SNES, line
/// search). Where that fails, and where the matrix is singular there, as conserved sums make it, by
/// steps in pseudo-time, which grow as the rates fall (switched evolution relaxation; Mulder and
/// van Leer 1985; Kelley and Keyes 1998) and keep linear invariants as the transient does; then by
/// continuation. Where equations have homotopy(actual, simplified), all of that looks for the point
/// of simplified, from which the point of actual is reached by continuation; whether that of actual
/// could be found without is not tried, as it may be another one. What only fades out towards
/// infinity, as exp(-x) does, is not found (`recedes`). Discrete variables stay as they are;
/// relations are those of the point that is found. On this rank alone.
struct PointSearch {
  explicit PointSearch(Eigen::VectorXd start) : z(std::move(start)) {}

  Eigen::VectorXd z;  ///< where nothing is found, the closest that an attempt has come to
  int steps = 0;      ///< Newton's and of pseudo-time
  bool by_pseudo_time = false;
  bool from_simplified = false;  ///< of homotopy(actual, simplified)
  double part = 1.0;             ///< of homotopy(...): how far it could be followed
  Eigen::Index receding = -1;    ///< the unknown that goes furthest, where the outcome is recedes
  std::vector<Happening> waiting = {};  ///< conditions that hold there and did not act

  /// Throws RecoverableFailure where there are no values to begin with.
  PointOutcome search(PointSystem& system);

 private:
  PointOutcome search_there(PointSystem& system);
  bool reach(PointSystem& system, double next);
  bool attempt(PointSystem& system);
  bool take(PointSystem& system, const Eigen::VectorXd& there, bool found);

  Eigen::VectorXd closest_;
};

}  // namespace concord
