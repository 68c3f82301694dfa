#pragma once

#include "support/petsc.hpp"

namespace concord {

/// Whether the matrix may have zeros on its diagonal, as constraints put there: then only a
/// factorisation that chooses its pivots will do (KLU, in parallel MUMPS).
enum class Diagonal { full, with_zeros };

/// Defaults for the interface's linear system, before KSPSetFromOptions: direct; on several ranks
/// redundantly on each of them or, where the system is large, with a parallel factorisation.
void choose_direct_solver(KSP ksp, Mat matrix, Diagonal diagonal = Diagonal::full);

}  // namespace concord
