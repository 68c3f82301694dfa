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

/// Defaults for the interface's linear system, before KSPSetFromOptions: direct on one rank where
/// that is cheap (Elimination), and redundantly on each of several where the system is small. Large
/// ones on several ranks, which couple weakly beside what lies on one rank, take GMRES with each
/// rank's own block factorised (block Jacobi): a few iterations, and no factorisation across ranks.
/// What is not cheap to factorise, a rank's block or the whole on one rank, is factorised in its
/// own pattern only (ILU). Where constraints put zeros on the diagonal, blocks may be singular: a
/// factorisation that chooses its pivots.
void choose_solver(KSP ksp, Mat matrix, Diagonal diagonal,
                   const std::optional<SolverOptions>& options = std::nullopt);

/// After KSPSetFromOptions, with an assembled matrix: the blocks' solvers, unless options have
/// chosen others. Collective.
void factorise_blocks(KSP ksp, const std::optional<SolverOptions>& options = std::nullopt);

/// Before a solve: factors of KLU, which tells of a singular matrix by an error of PETSc's, where
/// others tell of it by the reason why they have not converged. False, on every rank alike, where
/// there are none. Collective.
bool set_up(KSP ksp, Mat matrix, Mat near);

/// After a solve that failed: PETSc 3.18 takes no other matrix where MUMPS has found one singular.
/// Collective.
void forget_factors(KSP ksp, Mat matrix, Mat near);

/// After a solve that failed: whether the iteration was a default, which did not suit; the next
/// solve is a factorisation. Collective.
bool goes_over_to_direct(KSP ksp, Mat matrix,
                         const std::optional<SolverOptions>& options = std::nullopt);

/// Whether a solve is nothing but the application of factors on this one rank: there is nothing to
/// iterate or agree on, and no option that asks to see it.
bool is_plainly_direct(KSP ksp, const std::optional<SolverOptions>& options);

/// A solver of that kind, whose factors are kept while the matrix doesn't change; without options
/// nobody changes it.
KspHandle linear_solver(Mat matrix, Diagonal diagonal,
                        const std::optional<SolverOptions>& options = std::nullopt);

/// unknown = matrix^-1 right_side by such a solver, whose default blocks give way where they don't
/// suit; false where it cannot be had. Collective.
bool solve(KSP ksp, Mat matrix, Vec right_side, Vec unknown,
           const std::optional<SolverOptions>& options = std::nullopt);

/// Before KSPView or SNESView: what the choice of the solver was made from. PETSc 3.18 cannot show
/// factors of KLU that are not there yet: they are made, or made anew, when they are needed.
/// Collective.
void begin_view(KSP ksp, Mat matrix);

}  // namespace concord
