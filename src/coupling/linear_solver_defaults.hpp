#pragma once

#include "support/petsc.hpp"

namespace concord {

/// Defaults for the interface's linear system, before KSPSetFromOptions: direct; on several ranks
/// redundantly on each of them or, where the system is large, with a parallel factorisation.
void choose_direct_solver(KSP ksp, Mat matrix);

}  // namespace concord
