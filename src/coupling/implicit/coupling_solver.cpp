#include "coupling/implicit/coupling_solver.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "concord/errors.hpp"
#include "coupling/problem/linear_solver_defaults.hpp"
#include "coupling/problem/solver_limits.hpp"
#include "support/agreement.hpp"
#include "support/options.hpp"

namespace concord {
namespace {

/// Growth of the scaled residual norm, from one or more, after which a solve counts as diverged.
constexpr double diverged_factor = 1e6;

/// Of Newton's linear systems, where they are solved iteratively.
constexpr SolverOptions linear_options{"", 1e-12};

}  // namespace

CouplingSolver::CouplingSolver(const Method& method, double output_noise, MPI_Comm comm,
                               const ConstraintRows& constraints, CouplingUnknowns& unknowns,
                               CouplingEvaluation& evaluation, CouplingJacobian& jacobian,
                               CouplingConvergence& convergence)
    : comm_(comm),
      constraints_(constraints),
      unknowns_(unknowns),
      evaluation_(evaluation),
      jacobian_(jacobian),
      convergence_(convergence) {
  create(method);
  choose_linear_solver();
  petsc(SNESSetCheckJacobianDomainError(snes_, PETSC_TRUE));
  refuse_solvers_of_other_problems(options::text("snes_type").value_or(method.snes_type));
  set_from_options();
  finish_linear_solver();
  refuse_defective_solvers(snes_);
  refuse_unsuitable();
  choose_differencing(output_noise);
  look_at_type();
}

void CouplingSolver::create(const Method& method) {
  petsc(SNESCreate(comm_, snes_.out()));
  petsc(SNESSetType(snes_, method.snes_type.c_str()));
  petsc(SNESSetFunction(snes_, unknowns_.residual(), form_function, this));
  petsc(SNESSetJacobian(snes_, jacobian_.matrix(), jacobian_.matrix(), form_jacobian, this));
  petsc(SNESSetTolerances(snes_, PETSC_DEFAULT, PETSC_DEFAULT, 0.0, method.max_it, 1000000));
  petsc(SNESSetConvergenceTest(snes_, converged, this, nullptr));
  if (method.snes_type == std::string(SNESNRICHARDSON)) {
    SNESLineSearch line_search = nullptr;
    petsc(SNESGetLineSearch(snes_, &line_search));
    petsc(SNESLineSearchSetType(line_search, SNESLINESEARCHBASIC));
  }
}

/// Residuals are scaled: when they are small enough is the convergence test's to say, not the line
/// search's.
void CouplingSolver::set_from_options() {
  petsc(SNESSetFromOptions(snes_));
  if (options::has("snes_linesearch_atol")) {
    return;
  }
  SNESLineSearch line_search = nullptr;
  petsc(SNESGetLineSearch(snes_, &line_search));
  petsc(SNESLineSearchSetTolerances(line_search, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 0.0,
                                    PETSC_DEFAULT, PETSC_DEFAULT));
}

/// Matrix-free Newton gets GMRES, else the solver is direct.
void CouplingSolver::choose_linear_solver() {
  KSP ksp = nullptr;
  petsc(SNESGetKSP(snes_, &ksp));
  choose_solver(ksp, jacobian_.matrix(), jacobian_.diagonal(), linear_options);
  if (options::has("snes_mf") || options::has("snes_mf_operator")) {
    petsc(KSPSetType(ksp, KSPGMRES));
  }
}

void CouplingSolver::finish_linear_solver() {
  KSP ksp = nullptr;
  petsc(SNESGetKSP(snes_, &ksp));
  petsc(KSPSetOperators(ksp, jacobian_.matrix(), jacobian_.matrix()));
  factorise_blocks(ksp, linear_options);
}

/// Matrix-free products are differences of outputs, whose noise is the integrators'.
void CouplingSolver::choose_differencing(double output_noise) {
  if (!options::has("snes_mf") || options::has("mat_mffd_err")) {
    return;
  }
  Mat products = nullptr;
  petsc(SNESSetUp(snes_));
  petsc(SNESGetJacobian(snes_, &products, nullptr, nullptr, nullptr));
  petsc(MatMFFDSetFunctionError(products, std::sqrt(output_noise)));
}

/// The row of a constraint is gamma itself: a fixed point over it is no iteration for the unknown.
/// Unknowns that a schedule replaces make columns of zeros.
void CouplingSolver::refuse_unsuitable() const {
  for (const char* option : {"snes_fd", "snes_fd_color"}) {
    if (evaluation_.runs_in_stages() && options::has(option)) {
      throw InputError(
          "-" + std::string(option) +
          " differences the whole residual, which under -cosim_schedule sequential and "
          "hierarchical doesn't answer to every unknown, so that its Jacobian is "
          "singular; leave it out, or use -snes_mf");
    }
  }
  if (constraints_.any() && is_fixed_point()) {
    throw InputError(
        "-snes_type nrichardson, a fixed point, cannot solve for the unknowns of constraints; use "
        "-snes_type newtonls (-cosim_type jfm)");
  }
}

void CouplingSolver::look_at_type() {
  SNESType type = nullptr;
  petsc(SNESGetType(snes_, &type));
  const std::string name(type);
  quasi_newton_ = name == SNESQN;
  jacobian_.serve_solver(!options::has("snes_mf") &&
                         (name == SNESNEWTONLS || name == SNESNEWTONTR || name == SNESNEWTONTRDC ||
                          name == SNESKSPONLY));
  for (const char* option : {"snes_monitor", "snes_view", "snes_converged_reason"}) {
    watched_ = watched_ || !options::given(option).empty();
  }
}

PetscErrorCode CouplingSolver::form_function(SNES, Vec v, Vec f, void* self) {
  auto& solver = *static_cast<CouplingSolver*>(self);
  return solver.guard_.run(PetscErrorCode(PETSC_ERR_LIB), [&] {
    if (!std::exchange(solver.guess_is_evaluated_, false)) {
      solver.evaluation_.evaluate(v);
    }
    solver.evaluation_.write_residual(f);
    return PetscErrorCode(0);
  });
}

PetscErrorCode CouplingSolver::form_jacobian(SNES snes, Vec v, Mat a, Mat p, void* self) {
  auto& solver = *static_cast<CouplingSolver*>(self);
  return solver.guard_.run(PetscErrorCode(PETSC_ERR_LIB), [&]() -> PetscErrorCode {
    const bool there = solver.jacobian_.update(v);
    if (a != p) {
      PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    }
    KSP ksp = nullptr;
    PetscCall(SNESGetKSP(snes, &ksp));
    solver.singular_ = there && !set_up(ksp, a, p);
    if (!there || solver.singular_) {
      solver.jacobian_.forget();
      PetscCall(SNESSetJacobianDomainError(snes));
    }
    return 0;
  });
}

PetscErrorCode CouplingSolver::converged(SNES snes, PetscInt it, PetscReal, PetscReal,
                                         PetscReal fnorm, SNESConvergedReason* reason, void* self) {
  auto& solver = *static_cast<CouplingSolver*>(self);
  *reason = SNES_CONVERGED_ITERATING;
  if (!std::isfinite(fnorm)) {
    *reason = SNES_DIVERGED_FNORM_NAN;
    return 0;
  }
  return solver.guard_.run(PetscErrorCode(PETSC_ERR_LIB), [&]() -> PetscErrorCode {
    using Verdict = CouplingConvergence::Verdict;
    Vec f = nullptr, x = nullptr;
    PetscCall(SNESGetFunction(snes, &f, nullptr, nullptr));
    PetscCall(SNESGetSolution(snes, &x));
    const Verdict verdict = solver.convergence_.judge(it, x, f);
    if (verdict == Verdict::converged) {
      *reason = SNES_CONVERGED_FNORM_ABS;
    } else if (verdict == Verdict::noise) {
      *reason = SNES_CONVERGED_SNORM_RELATIVE;
    } else if (verdict == Verdict::out_of_time) {
      *reason = SNES_CONVERGED_ITS;
    } else if (it == 0) {
      solver.first_norm_ = fnorm;
    } else if (fnorm > diverged_factor * std::max(1.0, solver.first_norm_)) {
      *reason = SNES_DIVERGED_DTOL;
    }
    return 0;
  });
}

/// What a callback has thrown comes before what SNES says of it.
void CouplingSolver::after_callbacks(PetscErrorCode code) {
  guard_.rethrow();
  petsc(code);
}

/// Makes subsystems, inputs and outputs belong to the last iterate: SNES may have looked elsewhere
/// last.
void CouplingSolver::accept() {
  const bool same = evaluation_.was_at(unknowns_.vector());
  if (agree_on_largest(comm_, same ? 0 : 1) != 0) {
    after_callbacks(SNESComputeFunction(snes_, unknowns_.vector(), unknowns_.residual()));
  }
}

/// PETSc 3.18's quasi-Newton method would begin with the difference between this macro-step's first
/// iterate and the last one's of the macro-step before, which belongs to another problem.
void CouplingSolver::forget_updates() {
  if (quasi_newton_) {
    petsc(SNESSetType(snes_, SNESNRICHARDSON));
    petsc(SNESSetType(snes_, SNESQN));
    set_from_options();
  }
}

bool CouplingSolver::linear_solver_fails() const {
  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  petsc(SNESGetConvergedReason(snes_, &reason));
  return reason == SNES_DIVERGED_LINEAR_SOLVE;
}

void CouplingSolver::iterate(CouplingReport& report) {
  after_callbacks(SNESSolve(snes_, nullptr, unknowns_.vector()));
  PetscInt iterations = 0, linear_iterations = 0;
  petsc(SNESGetIterationNumber(snes_, &iterations));
  petsc(SNESGetLinearSolveIterations(snes_, &linear_iterations));
  report.iterations += static_cast<std::int32_t>(iterations);
  report.linear_iterations += static_cast<std::int32_t>(linear_iterations);
}

void CouplingSolver::solve(CouplingReport& report) {
  forget_updates();
  singular_ = false;
  guess_is_evaluated_ = true;
  iterate(report);
  guess_is_evaluated_ = false;
  KSP ksp = nullptr;
  petsc(SNESGetKSP(snes_, &ksp));
  if (linear_solver_fails() && goes_over_to_direct(ksp, jacobian_.matrix(), linear_options)) {
    iterate(report);
  }
  if (linear_solver_fails()) {
    forget_factors(ksp, jacobian_.matrix(), jacobian_.matrix());
  }
  accept();
  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  petsc(SNESGetConvergedReason(snes_, &reason));
  convergence_.conclude(reason == SNES_DIVERGED_LINE_SEARCH || reason == SNES_DIVERGED_TR_DELTA,
                        report);
}

bool CouplingSolver::is_fixed_point() const {
  SNESType type = nullptr;
  petsc(SNESGetType(snes_, &type));
  return std::string(type) == SNESNRICHARDSON;
}

std::string CouplingSolver::describe(const CouplingReport& report,
                                     const std::string& progress) const {
  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  SNESType type = nullptr;
  PetscReal last_norm = 0.0;
  petsc(SNESGetConvergedReason(snes_, &reason));
  petsc(SNESGetType(snes_, &type));
  petsc(SNESGetFunctionNorm(snes_, &last_norm));
  const bool diverged =
      reason == SNES_DIVERGED_DTOL || reason == SNES_DIVERGED_FNORM_NAN || last_norm > first_norm_;
  std::ostringstream how;
  if (singular_) {
    how << "the coupling's matrix is singular, as where the equation of a constraint does not "
           "answer "
           "to its unknown ("
        << progress << ")";
    return how.str();
  }
  how << (is_fixed_point() ? "the fixed point" : type)
      << (diverged ? " diverges" : " does not converge") << " (" << SNESConvergedReasons[reason]
      << ", " << report.iterations << " iterations, " << progress << ")";
  return how.str();
}

void CouplingSolver::view() const {
  KSP ksp = nullptr;
  petsc(SNESGetKSP(snes_, &ksp));
  begin_view(ksp, jacobian_.matrix());
  petsc(SNESView(snes_, PETSC_VIEWER_STDOUT_(comm_)));
}

}  // namespace concord
