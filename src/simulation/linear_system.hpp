#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "simulation/simulation_core.hpp"

namespace concord {

/// x' = A x + B u, y = C x + D u.
struct StateSpace {
  Eigen::MatrixXd a, b, c, d;
};

/// The coupled system near a communication point, small changes of what it says there:
///
///     x' = A x + B u,   y = C x + D u,
///
/// with the states x and outputs y of all subsystems and the inputs u that nothing feeds; loops of
/// direct feedthrough are solved. Entries are in the units of their variables. What only events
/// change is constant.
struct LinearSystem : StateSpace {
  double time = 0.0;  ///< s
  std::vector<std::string> states, inputs, outputs;
};

/// A connection of the model.
struct Connection {
  std::size_t input = 0, output = 0;  ///< of the network
  double factor = 1.0;                ///< of what arrives, in the input's unit
};
/// "motor.f -> mass.f" by its names. Throws InputError where nothing like it is there, with what
/// feeds the input instead.
Connection connection_of(const Network& network, const std::string& output,
                         const std::string& input);

/// At the point that the simulation has come to. Inputs of connections that are `opened` count as
/// those that nothing feeds, the others of the same output do not. Throws InputError for what has
/// no such form (subsystems without linearisation, constraints, delays), SimulationError for loops
/// without solution. The same on every rank; collective.
LinearSystem linear_system(SimulationCore& simulation, std::span<const Connection> opened = {});

/// x = V z with z' = diag(lambda) z.
struct Modes {
  Eigen::VectorXcd eigenvalues;  ///< 1/s, by falling real part
  /// [state, mode]: how much a state takes part in a mode, |w_k v_k| with w of V^-1, each column's
  /// sum 1 (Perez-Arriaga, Verghese, Schweppe 1982); empty where eigenvectors are nearly dependent.
  Eigen::MatrixXd participation;
  /// Of each eigenvalue, 1/s: how far rounding in A may have moved it, by its condition
  /// ||w|| ||v|| / |w v| (Wilkinson 1965).
  Eigen::VectorXd rounding;

  /// Real and imaginary parts that rounding may have made are 0.
  Eigen::VectorXcd shown_eigenvalues() const;
};

/// Sizes of states, powers of 2, with which the rows and columns of A are of one magnitude (Parlett
/// and Reinsch 1969).
Eigen::VectorXd balancing_sizes(const Eigen::MatrixXd& a);

/// Of x' = A x.
Modes modes_of(const Eigen::MatrixXd& a);

}  // namespace concord
