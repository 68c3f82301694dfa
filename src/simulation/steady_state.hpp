#pragma once

#include <Eigen/Core>
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
  bool from_simplified = false;  ///< of homotopy(actual, simplified)
};

/// As PointSearch finds it from the start values.
///
/// Of a simulation with `-cosim_type monolithic` that has been started. Throws InputError as
/// SteadySystem; SimulationError, with what is left and where, if there is none within reach.
OperatingPoint steady_state(SimulationCore& simulation, const SteadyWishes& wishes, double time);

}  // namespace concord
