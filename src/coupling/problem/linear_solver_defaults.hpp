#pragma once

#include <optional>

#include "network/rank_network.hpp"
#include "support/petsc.hpp"

namespace concord {

/// Whether the matrix may have zeros on its diagonal, as constraints put there: then only a
/// factorisation that chooses its pivots will do (KLU, in parallel MUMPS).
enum class Diagonal { full, with_zeros };

Diagonal diagonal_of(const RankNetwork& subsystems);

/// What users may choose of a linear solver: by options with this prefix, to which tolerance where
/// they choose an iterative one.
struct SolverOptions {
  const char* prefix;
  double rtol;
};

/// Defaults for the interface's linear system, before KSPSetFromOptions: direct; on several ranks
/// redundantly on each of them or, where the system is large, with a parallel factorisation.
void choose_direct_solver(KSP ksp, Mat matrix, Diagonal diagonal);

/// Whether a solve is nothing but the application of factors on this one rank: there is nothing to
/// iterate or agree on, and no option that asks to see it.
bool is_plainly_direct(KSP ksp, const std::optional<SolverOptions>& options);

/// A solver of that kind, whose factors are kept while the matrix doesn't change; without options
/// nobody changes it.
KspHandle linear_solver(Mat matrix, Diagonal diagonal,
                        const std::optional<SolverOptions>& options = std::nullopt);

}  // namespace concord
