#pragma once

#include <string>

#include "coupling/implicit/coupling_convergence.hpp"
#include "coupling/method.hpp"
#include "support/callback_guard.hpp"

namespace concord {

/// The SNES of an implicit coupling, from a guess that has been evaluated. Its function is
/// CouplingEvaluation, its Jacobian CouplingJacobian's, its convergence test CouplingConvergence;
/// its options and its linear solver's have no prefix.
class CouplingSolver {
 public:
  /// `output_noise`: relative error of outputs, for matrix-free products. Throws InputError on
  /// options that don't suit.
  CouplingSolver(const Method& method, double output_noise, MPI_Comm comm,
                 const ConstraintRows& constraints, CouplingUnknowns& unknowns,
                 CouplingEvaluation& evaluation, CouplingJacobian& jacobian,
                 CouplingConvergence& convergence);

  /// Iterates from CouplingUnknowns::vector(), where CouplingEvaluation stands, and leaves trial
  /// and subsystems at the last iterate. Collective.
  void solve(CouplingReport& report);

  /// Whether -snes_monitor and the like want to see it even where the guess is good.
  bool watched() const { return watched_; }

  /// "newtonls diverges (reason, 3 iterations, progress)".
  std::string describe(const CouplingReport& report, const std::string& progress) const;
  bool is_fixed_point() const;
  void view() const;

 private:
  static PetscErrorCode form_function(SNES snes, Vec v, Vec f, void* self);
  static PetscErrorCode form_jacobian(SNES snes, Vec v, Mat a, Mat p, void* self);
  static PetscErrorCode converged(SNES snes, PetscInt it, PetscReal xnorm, PetscReal gnorm,
                                  PetscReal fnorm, SNESConvergedReason* reason, void* self);
  void after_callbacks(PetscErrorCode code);
  void create(const Method& method);
  void set_from_options();
  void choose_linear_solver();
  void finish_linear_solver();
  bool linear_solver_fails() const;
  void choose_differencing(double output_noise);
  void refuse_unsuitable() const;
  void look_at_type();
  void forget_updates();
  void iterate(CouplingReport& report);
  void accept();

  MPI_Comm comm_;
  const ConstraintRows& constraints_;
  CouplingUnknowns& unknowns_;
  CouplingEvaluation& evaluation_;
  CouplingJacobian& jacobian_;
  CouplingConvergence& convergence_;
  CallbackGuard guard_;
  bool quasi_newton_ = false;
  bool watched_ = false;
  bool singular_ = false;            ///< the Jacobian, in the last solve
  bool guess_is_evaluated_ = false;  ///< SNES's first function evaluation has been made already
  double first_norm_ = 0.0;
  SnesHandle snes_;
};

}  // namespace concord
