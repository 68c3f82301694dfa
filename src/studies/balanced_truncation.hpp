#pragma once

#include <Eigen/Core>

#include "simulation/linear_system.hpp"

namespace concord {

/// A system of lower order with nearly the same response.
struct ReducedSystem {
  StateSpace system;
  Eigen::Index kept = 0;   ///< states of modes that do not decay, kept as they are
  Eigen::VectorXd hankel;  ///< singular values of the decaying part, falling
  double bound = 0.0;      ///< of the error at any frequency: twice the sum of those left out
  double error = 0.0;      ///< largest singular value of the difference at the frequencies tried
};

/// Balanced truncation (Moore 1981) of the decaying part by the square-root method (Tombs and
/// Postlethwaite 1987): states that are as hard to reach as to see are left out; the error at any
/// frequency is at most twice the sum of their Hankel singular values (Enns 1984, Glover 1984).
/// Values are in the units of inputs and outputs. Throws InputError where `order` is not below the
/// number of states, or below that of modes that do not decay.
ReducedSystem balanced_truncation(const StateSpace& system, Eigen::Index order);

}  // namespace concord
