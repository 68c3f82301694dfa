#include "coupling/linear_solver_defaults.hpp"

namespace concord {

void choose_direct_solver(KSP ksp, Mat matrix, Diagonal diagonal) {
  constexpr PetscInt small = 500;
  MPI_Comm comm = MPI_COMM_NULL;
  petsc(PetscObjectGetComm(reinterpret_cast<PetscObject>(matrix), &comm));
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  PetscInt rows = 0;
  petsc(MatGetSize(matrix, &rows, nullptr));
  PC pc = nullptr;
  petsc(KSPSetType(ksp, KSPPREONLY));
  petsc(KSPGetPC(ksp, &pc));
  if (ranks > 1 && rows <= small && diagonal == Diagonal::full) {
    petsc(PCSetType(pc, PCREDUNDANT));
    return;
  }
  petsc(PCSetType(pc, PCLU));
  petsc(PCFactorSetMatSolverType(
      pc, ranks == 1 && diagonal == Diagonal::full ? MATSOLVERPETSC : MATSOLVERMUMPS));
}

}  // namespace concord
