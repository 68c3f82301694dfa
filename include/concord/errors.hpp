#pragma once

#include <stdexcept>
#include <string>

#include "concord/api.hpp"

namespace concord CONCORD_API {

/// The input is wrong (command line, model file, FMU, options): exit code 2. The message names the
/// place, the value found and the remedy; the program adds "concord: error: ".
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The simulation failed (no convergence at the smallest step, a subsystem failed, not a number):
/// exit code 1.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A subsystem asks for the end of the simulation: what is there is kept, exit code 3.
class EndOfSimulation : public SimulationError {
 public:
  using SimulationError::SimulationError;
};

/// Thrown by a subsystem's f or g where a smaller step may help (out of the domain of definition).
class RecoverableFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace CONCORD_API
