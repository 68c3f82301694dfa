#pragma once

#include <string>
#include <vector>

#include "subsystem/fmu/setup.hpp"

namespace concord {

/// Values that tunable parameters of an FMU were given after it was made, by their position among
/// the description's parameters. FMI lets them change before and during initialisation, in event
/// mode, and between steps of co-simulation without it (FMI 2.0.4, 2.2.7; FMI 3.0, 2.4.7.4).
class TunableParameters {
 public:
  explicit TunableParameters(const FmuSetup& setup);

  /// Keeps it until `set`. False, with a reason in `failure`, for what the type does not take.
  bool take(std::size_t parameter, double value, std::string& failure);

  /// What was given last, else the FMU's start value.
  double value(std::size_t parameter) const { return values_.at(parameter); }

  /// Sets all that were given in the FMU.
  bool set(FmuInstance& instance) const { return instance.set(given_ports_, values_); }

  void io(Archive& archive);

 private:
  void collect();

  const FmuSetup* setup_;
  std::vector<double> values_;
  std::vector<char> given_;
  FmuPorts given_ports_;
};

}  // namespace concord
