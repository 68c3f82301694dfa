#pragma once

#include <string>

#include "support/words.hpp"

namespace concord {

enum class FmuInterfaceChoice { automatic, model_exchange, co_simulation, scheduled_execution };

template <>
inline std::span<const WordOf<FmuInterfaceChoice>> words_of<FmuInterfaceChoice>() {
  static constexpr WordOf<FmuInterfaceChoice> words[] = {
      {"auto", FmuInterfaceChoice::automatic},
      {"me", FmuInterfaceChoice::model_exchange},
      {"cs", FmuInterfaceChoice::co_simulation},
      {"se", FmuInterfaceChoice::scheduled_execution},
  };
  return words;
}

/// The options -subsystem_fmu_*.
struct FmuOptions {
  FmuInterfaceChoice interface = FmuInterfaceChoice::automatic;
  int micro_steps = 10;       ///< per macro-step, where the FMU takes no polynomial inputs
  int input_derivatives = 3;  ///< FMI 2: highest order given to fmi2SetRealInputDerivatives
  bool log = false;           ///< the FMU's messages on stderr
  bool probe = false;         ///< try the FMU first and withhold what it claims wrongly
  std::string
      platform{};  ///< the folder of binaries to use; empty: ours, else one with an emulator
  std::string emulator{};  ///< command that starts programs of that platform; empty: found
  std::string host{};      ///< program of that platform that has the binary; empty: compiled
};

}  // namespace concord
