#include "coupling/implicit/unknowns_error.hpp"

#include "coupling/problem/linear_solver_defaults.hpp"

namespace concord {

UnknownsError::UnknownsError(Mat matrix, bool zeros_on_diagonal) {
  MPI_Comm comm = MPI_COMM_NULL;
  petsc(PetscObjectGetComm(reinterpret_cast<PetscObject>(matrix), &comm));
  petsc(MatCreateVecs(matrix, error_.out(), nullptr));
  petsc(KSPCreate(comm, ksp_.out()));
  petsc(KSPSetOperators(ksp_, matrix, matrix));
  choose_direct_solver(ksp_, matrix, zeros_on_diagonal ? Diagonal::with_zeros : Diagonal::full);
}

Vec UnknownsError::solve(Vec residual) {
  petsc(KSPSolve(ksp_, residual, error_));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  petsc(KSPGetConvergedReason(ksp_, &reason));
  return reason > 0 ? static_cast<Vec>(error_) : nullptr;
}

}  // namespace concord
