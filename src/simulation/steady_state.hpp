#pragma once

#include <Eigen/Dense>
#include <string>
#include <utility>
#include <vector>

#include "simulation/steady_system.hpp"

namespace concord {

/// Where the coupled model rests.
struct OperatingPoint {
  double time = 0.0;                ///< s, at which it was asked for
  std::vector<double> states;       ///< of the network, in its order
  std::vector<double> rates;        ///< x', of the network's states
  std::vector<std::size_t> moving;  ///< states that move, on which nothing depends
  std::vector<std::pair<std::string, double>> freed;  ///< with the values found
  std::vector<Happening> waiting;  ///< conditions that hold there and did not act
  Eigen::MatrixXd a;               ///< df/dx of the whole network
  int steps = 0;                   ///< Newton's and of pseudo-time
  bool by_pseudo_time = false;
};

/// By Newton's method (PETSc's SNES, line search) from the start values. Where that fails, and
/// where df/dx is singular there, as conserved sums make it, by steps in pseudo-time, which grow as
/// the rates fall (switched evolution relaxation; Mulder and van Leer 1985; Kelley and Keyes 1998)
/// and keep linear invariants as the transient does. Discrete variables stay as they are at the
/// start; relations are those of the point that is found.
///
/// Of a simulation with `-cosim_type monolithic` that has been started. Throws InputError as
/// SteadySystem; SimulationError, with what is left and where, if there is none within reach.
OperatingPoint steady_state(SimulationCore& simulation, const SteadyWishes& wishes, double time);

}  // namespace concord
