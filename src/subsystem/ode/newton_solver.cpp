#include "subsystem/ode/newton_solver.hpp"

#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <algorithm>

namespace concord {

using sundials_handle::made;
using sundials_handle::require;

namespace {

/// What is singular where it is to be factorised may be regular over a shorter micro-step, and what
/// is in the order of elimination that is kept, in another; SUNDIALS' KLU gives up, where its dense
/// factors ask for a shorter one.
int factorise(SUNLinearSolver solver, SUNMatrix matrix) {
  int failure = SUNLinSolSetup_KLU(solver, matrix);
  if (failure != SUNLS_SUCCESS) {
    failure = SUNLinSol_KLUReInit(solver, matrix, SM_NNZ_S(matrix), SUNKLU_REINIT_PARTIAL);
    failure = failure == SUNLS_SUCCESS ? SUNLinSolSetup_KLU(solver, matrix) : failure;
  }
  return failure == SUNLS_PACKAGE_FAIL_UNREC ? SUNLS_PACKAGE_FAIL_REC : failure;
}

}  // namespace

NewtonSolver::NewtonSolver(const RightHandSide& rhs, N_Vector states, SUNContext context)
    : pattern_(rhs.model().state_pattern()) {
  const auto n = static_cast<sunindextype>(NV_LENGTH_S(states));
  if (pattern_ && pattern_->is_sparse()) {
    const auto count = static_cast<sunindextype>(pattern_->rows.size());
    matrix_.reset(made(SUNSparseMatrix(n, n, count, CSC_MAT, context)));
    solver_.reset(made(SUNLinSol_KLU(states, matrix_.get(), context)));
    solver_->ops->setup = factorise;
  } else {
    pattern_.reset();
    matrix_.reset(made(SUNDenseMatrix(n, n, context)));
    solver_.reset(made(SUNLinSol_Dense(states, matrix_.get(), context)));
  }
}

int NewtonSolver::fill(RightHandSide& rhs, double tau, std::span<const double> x,
                       std::span<const double> f_at_x, SUNMatrix f_x) {
  if (pattern_) return fill_sparse(rhs, tau, x, f_at_x, f_x);
  return rhs.state_jacobian(tau, x, f_at_x, {SM_DATA_D(f_x), x.size() * x.size()});
}

/// KLU keeps the order of its elimination as long as the pattern is what it was.
int NewtonSolver::fill_sparse(RightHandSide& rhs, double tau, std::span<const double> x,
                              std::span<const double> f_at_x, SUNMatrix f_x) {
  const auto pattern = rhs.model().state_pattern();
  const auto count = static_cast<sunindextype>(pattern->rows.size());
  if (SM_NNZ_S(f_x) < count && SUNSparseMatrix_Reallocate(f_x, count) != 0)
    return RightHandSide::unrecoverable;
  if (pattern != pattern_ &&
      SUNLinSol_KLUReInit(solver_.get(), f_x, count, SUNKLU_REINIT_PARTIAL) != 0)
    return RightHandSide::unrecoverable;
  pattern_ = pattern;
  std::ranges::copy(pattern->begins, SM_INDEXPTRS_S(f_x));
  std::ranges::copy(pattern->rows, SM_INDEXVALS_S(f_x));
  return rhs.state_entries(tau, x, f_at_x, *pattern, {SM_DATA_S(f_x), pattern->rows.size()});
}

}  // namespace concord
