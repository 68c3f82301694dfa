#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "network/model.hpp"

namespace concord {

/// What an equation at the start names, or what is free there: "left.x".
struct StartQuantity {
  enum class Kind { state, rate, output, input, parameter };
  Kind kind = Kind::state;
  std::string name;
  /// Position in the model; of the variable among those of its kind in the subsystem.
  std::size_t subsystem = 0, index = 0;
  double given = 0.0;  ///< the value of a parameter; the start value of a state or an input

  bool operator==(const StartQuantity&) const = default;
};

/// 0 = missed(t, quantities) at the start of the experiment.
struct StartEquation {
  std::string text;  ///< of one element: "der(rod.T[1]) = 0"
  Location location;
  std::size_t entry = 0;  ///< of Model::initial, by position
  std::vector<StartQuantity> quantities;
  /// `slopes`: exact derivatives by the values, one for each quantity.
  std::function<double(double t, std::span<const double> values, std::span<double> slopes)> missed;
};

/// What equations at the start decide in the place of the value that is given to it, from which it
/// is looked for: a state, a parameter of equations, an input that nothing feeds.
struct FreeStart {
  StartQuantity what;
  Location location;
};

/// As many equations as there are free ones.
struct StartProblem {
  std::vector<StartEquation> equations;
  std::vector<FreeStart> free;
};

/// What solves it.
struct FoundStart {
  std::vector<std::pair<std::string, double>> values;  ///< of what is free
  std::size_t equations = 0;
  double residual = 0.0;  ///< the largest, beside sizes
};

/// The subsystem begins with these values of states and inputs, and has these of parameters, by
/// position, from the start on.
struct StartValues {
  std::vector<std::pair<std::size_t, double>> states, inputs, parameters;
};

void begin_with(SubsystemEntry& entry, const StartValues& values);

}  // namespace concord
