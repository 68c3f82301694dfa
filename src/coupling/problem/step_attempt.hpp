#pragma once

#include "coupling/coupling.hpp"

namespace concord {

/// One attempt at a macro-step, as the parts of an implicit coupling see it: from where, and into
/// what. Both outlive the solve, not more.
struct StepAttempt {
  MacroStep step;
  const CommunicationPoint* point = nullptr;
  Trial* trial = nullptr;

  double h() const { return step.size(); }
};

}  // namespace concord
