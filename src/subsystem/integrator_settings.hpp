#pragma once

#include <string>
#include <vector>

#include "signal/sizes.hpp"

namespace concord {

/// How a subsystem integrates itself over a macro-step (options -subsystem_*).
enum class IntegratorKind { automatic, erk, dirk, cvode_bdf, cvode_adams };

struct SubsystemSettings {
  IntegratorKind integrator = IntegratorKind::automatic;
  Tolerance tolerance{1e-8, 1e-10};
  bool rollback = true;           ///< false withholds the capability
  bool linearization = true;      ///< false withholds the capability
  bool state_derivatives = true;  ///< false withholds the capability
  /// Multistep integrators may continue across communication points where inputs are C1.
  bool continuation = true;
  std::vector<char> recorded{};  ///< which outputs are; empty: all
};

}  // namespace concord
