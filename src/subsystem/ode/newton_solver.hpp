#pragma once

#include <memory>
#include <span>

#include "subsystem/ode/right_hand_side.hpp"
#include "subsystem/sparse_model.hpp"
#include "support/sundials_handle.hpp"

namespace concord {

/// The matrix f_x of an implicit integrator's Newton iteration, and what solves with it: LU factors
/// of a dense matrix, or of a sparse one by KLU (Davis and Palamadai Natarajan 2010) where the
/// model knows a pattern that is worth it.
class NewtonSolver {
 public:
  /// `states`: a vector of the integrator, which has one entry where the model has no states.
  NewtonSolver(const RightHandSide& rhs, N_Vector states, SUNContext context);

  SUNMatrix matrix() const { return matrix_.get(); }
  SUNLinearSolver native() const { return solver_.get(); }

  /// f_x at tau, as a callback of CVODE or ARKODE does it.
  int fill(RightHandSide& rhs, double tau, std::span<const double> x,
           std::span<const double> f_at_x, SUNMatrix f_x);

 private:
  int fill_sparse(RightHandSide& rhs, double tau, std::span<const double> x,
                  std::span<const double> f_at_x, SUNMatrix f_x);

  std::shared_ptr<const ColumnPattern> pattern_;  ///< null: dense
  sundials_handle::Matrix matrix_;
  sundials_handle::LinearSolver solver_;
};

}  // namespace concord
