#include "coupling/points/loop_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/vec_entries.hpp"

namespace concord {
namespace {

/// Rest of a row beside its terms, for solvers that know no Jacobian and after the last correction.
constexpr double loose_rounding = 1e-12;

/// Newton's last correction with a Jacobian of an earlier point, where the error shrinks by the
/// contraction only.
constexpr double last_correction_kept = 1e-14;

}  // namespace

LoopNewton::LoopNewton(LoopSystem& system) : system_(system) {
  if (system_.equations().here()) {
    create_solver();
  }
}

void LoopNewton::create_solver() {
  petsc(MatCreateVecs(system_.jacobian(), unknown_.out(), residual_.out()));
  correction_.z.resize(system_.equations().size());
  petsc(SNESCreate(PETSC_COMM_SELF, snes_.out()));
  petsc(SNESSetOptionsPrefix(snes_, "loop_"));
  petsc(SNESSetFunction(snes_, residual_, form_rows, this));
  petsc(SNESSetJacobian(snes_, system_.jacobian(), system_.jacobian(), form_jacobian, this));
  petsc(SNESSetCheckJacobianDomainError(snes_, PETSC_TRUE));
  constexpr double never = 1e-300;  // the test below decides, and what options ask for
  petsc(SNESSetTolerances(snes_, never, never, never, 50, 100000));
  petsc(SNESSetConvergenceTest(snes_, test, this, nullptr));
  petsc(SNESSetType(snes_, SNESNEWTONLS));
  SNESLineSearch search = nullptr;
  petsc(SNESGetLineSearch(snes_, &search));
  petsc(SNESLineSearchSetType(search, SNESLINESEARCHBT));
  petsc(SNESLineSearchSetPreCheck(search, look_at_correction, this));
  solve_with_factors(snes_, apply_factors, this);
  petsc(SNESSetFromOptions(snes_));
}

std::optional<std::string> LoopNewton::solve() {
  system_.forgive();
  if (!jacobian_.kept) {
    if (auto failure = system_.begin_afresh()) {
      return failure;
    }
  }
  jacobian_.here = !jacobian_.kept;
  jacobian_.renew = false;
  {
    WriteEntries z(unknown_);
    for (std::size_t row = 0; row < system_.u().size(); ++row) {
      z[row] = system_.u()[row].value / system_.column_scale(row);
    }
  }
  correction_.left = false;
  correction_.size = std::numeric_limits<double>::infinity();
  const PetscErrorCode code = SNESSolve(snes_, nullptr, unknown_);
  guard_.rethrow();
  petsc(code);
  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  petsc(SNESGetConvergedReason(snes_, &reason));
  auto failure = finish(reason);
  jacobian_.kept = !failure && !system_.factors().empty();
  return failure;
}

/// Takes over the solution, with the correction that was left; rows are those of u then.
std::optional<std::string> LoopNewton::finish(SNESConvergedReason reason) {
  if (reason <= 0) {
    return SNESConvergedReasons[reason];
  }
  {
    const ReadEntries z(unknown_);
    for (std::size_t row = 0; row < system_.u().size(); ++row) {
      const double last = correction_.left ? correction_.z[row] : 0.0;
      system_.u()[row].value = (z[row] - last) * system_.column_scale(row);
    }
  }
  if (!system_.evaluate()) {
    return "its outputs cannot be evaluated at the solution";
  }
  if (correction_.left && !system_.at_rounding(loose_rounding)) {
    return "the solution stays too rough";
  }
  return std::nullopt;
}

void LoopNewton::take_unknowns(Vec z) {
  const ReadEntries at(z);
  for (std::size_t row = 0; row < system_.u().size(); ++row) {
    system_.u()[row].value = at[row] * system_.column_scale(row);
  }
}

PetscErrorCode LoopNewton::form_rows(SNES snes, Vec z, Vec f, void* self) {
  auto& newton = *static_cast<LoopNewton*>(self);
  return newton.guard_.run(static_cast<PetscErrorCode>(PETSC_ERR_LIB), [&]() -> PetscErrorCode {
    LoopSystem& system = newton.system_;
    newton.take_unknowns(z);
    const bool there = system.evaluate();
    WriteEntries result(f);
    if (!there) {
      std::fill(result.all().begin(), result.all().end(), std::numeric_limits<double>::infinity());
      return SNESSetFunctionDomainError(snes);
    }
    for (std::size_t row = 0; row < system.rows().size(); ++row) {
      result[row] = system.rows()[row].value / system.row_scale(row);
    }
    return 0;
  });
}

PetscErrorCode LoopNewton::form_jacobian(SNES snes, Vec z, Mat, Mat, void* self) {
  auto& newton = *static_cast<LoopNewton*>(self);
  return newton.guard_.run(static_cast<PetscErrorCode>(PETSC_ERR_LIB), [&]() -> PetscErrorCode {
    Jacobian& jacobian = newton.jacobian_;
    PetscInt it = 0;
    PetscCall(SNESGetIterationNumber(snes, &it));
    if ((it == 0 && jacobian.here) || (jacobian.kept && !jacobian.renew)) {
      return 0;
    }
    newton.take_unknowns(z);
    jacobian.kept = false;
    jacobian.here = newton.system_.linearize();
    return jacobian.here ? PetscErrorCode(0) : SNESSetJacobianDomainError(snes);
  });
}

PetscErrorCode LoopNewton::apply_factors(PC pc, Vec b, Vec x) {
  void* self = nullptr;
  PetscCall(PCShellGetContext(pc, &self));
  auto& newton = *static_cast<LoopNewton*>(self);
  return newton.guard_.run(static_cast<PetscErrorCode>(PETSC_ERR_LIB), [&]() -> PetscErrorCode {
    const ReadEntries right(b);
    WriteEntries solution(x);
    newton.system_.factors().solve(right.all(), solution.all());
    return 0;
  });
}

PetscErrorCode LoopNewton::test(SNES snes, PetscInt it, PetscReal xnorm, PetscReal snorm,
                                PetscReal fnorm, SNESConvergedReason* reason, void* self) {
  auto& newton = *static_cast<LoopNewton*>(self);
  return newton.guard_.run(static_cast<PetscErrorCode>(PETSC_ERR_LIB), [&]() -> PetscErrorCode {
    PetscBool is_newton = PETSC_FALSE;
    PetscCall(
        PetscObjectTypeCompare(reinterpret_cast<PetscObject>(snes), SNESNEWTONLS, &is_newton));
    const double allowed = is_newton ? LoopLimits::rounding : loose_rounding;
    if (std::isfinite(fnorm) && newton.system_.at_rounding(allowed)) {
      *reason = SNES_CONVERGED_FNORM_ABS;
      return 0;
    }
    return SNESConvergedDefault(snes, it, xnorm, snorm, fnorm, reason, nullptr);
  });
}

/// The largest of them beside their unknowns; keeps them.
double LoopNewton::Correction::take(Vec unknowns, Vec corrections) {
  const ReadEntries at(unknowns), step(corrections);
  double worst = 0.0;
  for (std::size_t row = 0; row < z.size(); ++row) {
    z[row] = step[row];
    worst =
        std::max(worst, std::abs(step[row]) / std::max(std::abs(at[row]), LoopLimits::near_zero));
  }
  return worst;
}

/// Newton's correction before the line search sees it.
PetscErrorCode LoopNewton::look_at_correction(SNESLineSearch search, Vec z, Vec y,
                                              PetscBool* changed, void* self) {
  auto& newton = *static_cast<LoopNewton*>(self);
  return newton.guard_.run(static_cast<PetscErrorCode>(PETSC_ERR_LIB), [&]() -> PetscErrorCode {
    Correction& correction = newton.correction_;
    *changed = PETSC_FALSE;
    const double worst = correction.take(z, y);
    if (worst <= (newton.jacobian_.here ? LoopLimits::last_correction : last_correction_kept)) {
      SNES snes = nullptr;
      correction.left = true;
      *changed = PETSC_TRUE;
      PetscCall(VecSet(y, 0.0));
      PetscCall(SNESLineSearchGetSNES(search, &snes));
      return SNESSetConvergedReason(snes, SNES_CONVERGED_SNORM_RELATIVE);
    }
    newton.jacobian_.renew = worst > LoopLimits::poor_contraction * correction.size;
    correction.size = worst;
    return 0;
  });
}

}  // namespace concord
