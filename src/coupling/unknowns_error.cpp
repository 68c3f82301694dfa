#include "coupling/unknowns_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coupling/linear_solver_defaults.hpp"
#include "support/agreement.hpp"

namespace concord {

UnknownsError::UnknownsError(const ConstraintRows& constraints, Mat matrix, int parts)
    : constraints_(constraints), parts_(static_cast<std::size_t>(parts)) {
  MPI_Comm comm = MPI_COMM_NULL;
  petsc(PetscObjectGetComm(reinterpret_cast<PetscObject>(matrix), &comm));
  petsc(MatCreateVecs(matrix, correction_.out(), nullptr));
  petsc(KSPCreate(comm, ksp_.out()));
  petsc(KSPSetOperators(ksp_, matrix, matrix));
  choose_direct_solver(ksp_, matrix, Diagonal::with_zeros);
}

double UnknownsError::largest(Vec residual, std::span<const double> scale,
                              std::span<const Sample> inputs,
                              std::span<const std::size_t> connected, double floor) {
  petsc(KSPSolve(ksp_, residual, correction_));
  const PetscScalar* e = nullptr;
  petsc(VecGetArrayRead(correction_, &e));
  double largest = 0.0;
  for (const std::size_t j : constraints_.indirect_unknowns()) {
    double error = 0.0;
    for (std::size_t row = j * parts_; row < (j + 1) * parts_; ++row) {
      error += std::abs(e[row]) * scale[j * parts_];
    }
    const double size = std::max(std::abs(inputs[connected[j]].value), floor);
    largest = std::isfinite(error) ? std::max(largest, error / size)
                                   : std::numeric_limits<double>::infinity();
  }
  petsc(VecRestoreArrayRead(correction_, &e));
  MPI_Comm comm = MPI_COMM_NULL;
  petsc(PetscObjectGetComm(reinterpret_cast<PetscObject>(static_cast<Vec>(correction_)), &comm));
  return agree_on_largest(comm, largest);
}

}  // namespace concord
