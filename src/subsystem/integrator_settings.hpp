#pragma once

#include <string>
#include <vector>

#include "signal/hold.hpp"
#include "signal/sizes.hpp"
#include "support/words.hpp"

namespace concord {

/// How a subsystem integrates itself over a macro-step (options -subsystem_*).
enum class IntegratorKind { automatic, erk, dirk, cvode_bdf, cvode_adams };

template <>
inline std::span<const WordOf<IntegratorKind>> words_of<IntegratorKind>() {
  static constexpr WordOf<IntegratorKind> words[] = {
      {"auto", IntegratorKind::automatic},
      {"erk", IntegratorKind::erk},
      {"dirk", IntegratorKind::dirk},
      {"cvode_bdf", IntegratorKind::cvode_bdf},
      {"cvode_adams", IntegratorKind::cvode_adams},
  };
  return words;
}

/// A subsystem that takes one step over several macro-steps, and how its outputs within them come
/// from its last ones.
struct SlowSteps {
  int macro_steps = 1;  ///< of each step; 1: as everybody
  int hold_order = 0;
  Extrapolation extrapolation = Extrapolation::lagrange;
};

struct SubsystemSettings {
  IntegratorKind integrator = IntegratorKind::automatic;
  Tolerance tolerance{1e-8, 1e-10};
  bool rollback = true;           ///< false withholds the capability
  bool linearization = true;      ///< false withholds the capability
  bool state_derivatives = true;  ///< false withholds the capability
  /// Multistep integrators may continue across communication points where inputs are C1.
  bool continuation = true;
  bool taken_back = false;       ///< macro-steps may be, whatever happens in them
  bool open_end = false;         ///< the run may go on beyond its stop time, which no FMU is told
  std::vector<char> recorded{};  ///< which outputs are; empty: all
  SlowSteps slow{};
};

}  // namespace concord
