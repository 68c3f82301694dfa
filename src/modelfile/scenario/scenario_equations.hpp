#pragma once

#include <optional>
#include <string>
#include <vector>

#include "modelfile/scenario/scenario.hpp"
#include "subsystem/equations/equations_description.hpp"

namespace concord {

/// An input, an output or a parameter, and all that happens to it.
struct ScenarioTarget {
  std::string subsystem;  ///< that is made for it
  std::string unit;
  double nominal = 0.0;           ///< 0: none
  std::optional<double> start{};  ///< value of what nothing feeds, and where nothing arrives
  bool fed = false;
  std::vector<ScenarioAction> actions{};
};

/// A variable of the model that conditions and values name, and the input that brings it.
struct ScenarioSignal {
  std::string name, alias;
  std::string unit{};
};

inline constexpr const char* scenario_input_name = "u";
inline constexpr const char* scenario_output_name = "y";
/// Whether what it passes on changes at events only, where what arrives does.
bool keeps_held(const ScenarioTarget& target);

/// Equations that do it, in order: y = what arrives, with each action on top of those before.
EquationsDescription equations_of(const ScenarioTarget& target,
                                  const std::vector<ScenarioSignal>& signals);

}  // namespace concord
