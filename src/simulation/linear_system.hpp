#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "simulation/simulation_core.hpp"

namespace concord {

/// The coupled system near a communication point, small changes of what it says there:
///
///     x' = A x + B u,   y = C x + D u,
///
/// with the states x and outputs y of all subsystems and the inputs u that nothing feeds; loops of
/// direct feedthrough are solved. Entries are in the units of their variables. What only events
/// change is constant.
struct LinearSystem {
  double time = 0.0;  ///< s
  std::vector<std::string> states, inputs, outputs;
  Eigen::MatrixXd a, b, c, d;
};

/// At the point that the simulation has come to. Throws InputError for what has no such form
/// (subsystems without linearisation, constraints, delays), SimulationError for loops without
/// solution. The same on every rank; collective.
LinearSystem linear_system(SimulationCore& simulation);

/// x = V z with z' = diag(lambda) z.
struct Modes {
  Eigen::VectorXcd eigenvalues;  ///< 1/s, by falling real part
  /// [state, mode]: how much a state takes part in a mode, |w_k v_k| with w of V^-1, each column's
  /// sum 1 (Perez-Arriaga, Verghese, Schweppe 1982); empty where eigenvectors are nearly dependent.
  Eigen::MatrixXd participation;
};

/// Of x' = A x.
Modes modes_of(const Eigen::MatrixXd& a);

}  // namespace concord
