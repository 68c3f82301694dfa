#include "coupling/problem/linear_solver_defaults.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "support/options.hpp"
#include "support/ranks.hpp"

namespace concord {

Diagonal diagonal_of(const RankNetwork& subsystems) {
  return subsystems.network().has_constraints() ? Diagonal::with_zeros : Diagonal::full;
}

void choose_direct_solver(KSP ksp, Mat matrix, Diagonal diagonal) {
  constexpr PetscInt small = 500;
  MPI_Comm comm = MPI_COMM_NULL;
  petsc(PetscObjectGetComm(reinterpret_cast<PetscObject>(matrix), &comm));
  const int ranks = ranks_of(comm);
  PetscInt rows = 0;
  petsc(MatGetSize(matrix, &rows, nullptr));
  PC pc = nullptr;
  petsc(KSPSetType(ksp, KSPPREONLY));
  petsc(KSPGetPC(ksp, &pc));
  const bool redundant = ranks > 1 && rows <= small;
  if (redundant) {
    KSP inner = nullptr;
    petsc(PCSetType(pc, PCREDUNDANT));
    petsc(PCRedundantGetKSP(pc, &inner));
    petsc(KSPSetType(inner, KSPPREONLY));
    petsc(KSPGetPC(inner, &pc));
  }
  const bool in_one_piece = ranks == 1 || redundant;
  petsc(PCSetType(pc, PCLU));
  const auto* pivoting = in_one_piece ? MATSOLVERKLU : MATSOLVERMUMPS;
  const bool plain = in_one_piece && diagonal == Diagonal::full;
  petsc(PCFactorSetMatSolverType(pc, plain ? MATSOLVERPETSC : pivoting));
}

bool is_plainly_direct(KSP ksp, const std::optional<SolverOptions>& options) {
  MPI_Comm comm = MPI_COMM_NULL;
  petsc(PetscObjectGetComm(reinterpret_cast<PetscObject>(ksp), &comm));
  const int ranks = ranks_of(comm);
  PetscBool only_preconditions = PETSC_FALSE;
  petsc(
      PetscObjectTypeCompare(reinterpret_cast<PetscObject>(ksp), KSPPREONLY, &only_preconditions));
  const std::string prefix = options ? options->prefix + std::string("ksp_") : std::string();
  const auto given = options ? options::given(prefix) : std::vector<std::string>();
  return ranks == 1 && only_preconditions == PETSC_TRUE &&
         std::all_of(given.begin(), given.end(),
                     [&](const std::string& name) { return name == prefix + "type"; });
}

KspHandle linear_solver(Mat matrix, Diagonal diagonal,
                        const std::optional<SolverOptions>& options) {
  MPI_Comm comm = MPI_COMM_NULL;
  petsc(PetscObjectGetComm(reinterpret_cast<PetscObject>(matrix), &comm));
  KspHandle ksp;
  petsc(KSPCreate(comm, ksp.out()));
  if (options) {
    petsc(KSPSetOptionsPrefix(ksp, options->prefix));
    petsc(KSPSetTolerances(ksp, options->rtol, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  }
  petsc(KSPSetOperators(ksp, matrix, matrix));
  choose_direct_solver(ksp, matrix, diagonal);
  if (options) {
    petsc(KSPSetFromOptions(ksp));
  }
  return ksp;
}

}  // namespace concord
