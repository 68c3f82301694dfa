#include "coupling/implicit/unknowns_error.hpp"

#include "coupling/problem/linear_solver_defaults.hpp"

namespace concord {

UnknownsError::UnknownsError(Mat matrix, bool zeros_on_diagonal)
    : ksp_(linear_solver(matrix, zeros_on_diagonal ? Diagonal::with_zeros : Diagonal::full)) {
  petsc(MatCreateVecs(matrix, error_.out(), nullptr));
}

Vec UnknownsError::solve(Vec residual) {
  petsc(KSPSolve(ksp_, residual, error_));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  petsc(KSPGetConvergedReason(ksp_, &reason));
  return reason > 0 ? static_cast<Vec>(error_) : nullptr;
}

}  // namespace concord
