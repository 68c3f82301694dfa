#include <algorithm>
#include <cmath>
#include <limits>

#include "coupling/points/algebraic_loop.hpp"

namespace concord {
namespace {

/// Rest of a row beside its terms, for solvers that know no Jacobian and after the last correction.
constexpr double loose_rounding = 1e-12;

/// Newton's last correction with a Jacobian of an earlier point, where the error shrinks by the
/// contraction only.
constexpr double last_correction_kept = 1e-14;

class WriteArray {
 public:
  explicit WriteArray(Vec vector) : vector_(vector) { petsc(VecGetArrayWrite(vector, &values_)); }
  ~WriteArray() { VecRestoreArrayWrite(vector_, &values_); }
  WriteArray(const WriteArray&) = delete;
  WriteArray& operator=(const WriteArray&) = delete;
  PetscScalar& operator[](std::size_t i) { return values_[i]; }
  PetscScalar* data() { return values_; }

 private:
  Vec vector_;
  PetscScalar* values_ = nullptr;
};

class ReadArray {
 public:
  explicit ReadArray(Vec vector) : vector_(vector) { petsc(VecGetArrayRead(vector, &values_)); }
  ~ReadArray() { VecRestoreArrayRead(vector_, &values_); }
  ReadArray(const ReadArray&) = delete;
  ReadArray& operator=(const ReadArray&) = delete;
  PetscScalar operator[](std::size_t i) const { return values_[i]; }
  const PetscScalar* data() const { return values_; }

 private:
  Vec vector_;
  const PetscScalar* values_ = nullptr;
};

}  // namespace

void AlgebraicLoop::create_solver() {
  const auto n = static_cast<PetscInt>(equations_.size());
  std::vector<PetscInt> starts(equations_.row_starts().begin(), equations_.row_starts().end());
  std::vector<PetscInt> columns(equations_.columns().begin(), equations_.columns().end());
  scaled_.resize(columns.size());
  correction_.resize(equations_.size());
  petsc(VecCreateSeq(PETSC_COMM_SELF, n, unknown_.out()));
  petsc(VecDuplicate(unknown_, residual_.out()));
  petsc(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 0, nullptr, jacobian_.out()));
  petsc(MatSeqAIJSetPreallocationCSR(jacobian_, starts.data(), columns.data(), scaled_.data()));
  petsc(SNESCreate(PETSC_COMM_SELF, snes_.out()));
  petsc(SNESSetOptionsPrefix(snes_, "loop_"));
  petsc(SNESSetFunction(snes_, residual_, form_rows, this));
  petsc(SNESSetJacobian(snes_, jacobian_, jacobian_, form_jacobian, this));
  petsc(SNESSetCheckJacobianDomainError(snes_, PETSC_TRUE));
  constexpr double never = 1e-300;  // the test below decides, and what options ask for
  petsc(SNESSetTolerances(snes_, never, never, never, 50, 100000));
  petsc(SNESSetConvergenceTest(snes_, test, this, nullptr));
  petsc(SNESSetType(snes_, SNESNEWTONLS));
  SNESLineSearch search = nullptr;
  petsc(SNESGetLineSearch(snes_, &search));
  petsc(SNESLineSearchSetType(search, SNESLINESEARCHBT));
  petsc(SNESLineSearchSetPreCheck(search, look_at_correction, this));
  KSP ksp = nullptr;
  PC pc = nullptr;
  petsc(SNESGetKSP(snes_, &ksp));
  petsc(KSPSetType(ksp, KSPPREONLY));
  petsc(KSPGetPC(ksp, &pc));
  petsc(PCSetType(pc, PCSHELL));
  petsc(PCShellSetContext(pc, this));
  petsc(PCShellSetApply(pc, apply_factors));
  petsc(SNESSetFromOptions(snes_));
}

bool AlgebraicLoop::run_newton() {
  {
    WriteArray z(unknown_);
    for (std::size_t row = 0; row < u_.size(); ++row) {
      z[row] = u_[row].value / column_scale_[row];
    }
  }
  corrected_ = false;
  last_correction_ = std::numeric_limits<double>::infinity();
  const PetscErrorCode code = SNESSolve(snes_, nullptr, unknown_);
  guard_.rethrow();
  petsc(code);
  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  petsc(SNESGetConvergedReason(snes_, &reason));
  const bool solved = finish(reason);
  jacobian_kept_ = solved && !factors_.empty();
  return solved;
}

/// Takes over the solution, with the correction that was left; rows are those of u_ then.
bool AlgebraicLoop::finish(SNESConvergedReason reason) {
  if (reason <= 0) {
    reason_ = SNESConvergedReasons[reason];
    return false;
  }
  {
    const ReadArray z(unknown_);
    for (std::size_t row = 0; row < u_.size(); ++row) {
      const double last = corrected_ ? correction_[row] : 0.0;
      u_[row].value = (z[row] - last) * column_scale_[row];
    }
  }
  if (!rows_at(u_)) {
    reason_ = "its outputs cannot be evaluated at the solution";
    return false;
  }
  if (corrected_ && !at_rounding(loose_rounding)) {
    reason_ = "the solution stays too rough";
    return false;
  }
  return true;
}

PetscErrorCode AlgebraicLoop::form_rows(SNES snes, Vec z, Vec f, void* self) {
  auto& loop = *static_cast<AlgebraicLoop*>(self);
  return loop.guard_.run(static_cast<PetscErrorCode>(PETSC_ERR_LIB), [&]() -> PetscErrorCode {
    const ReadArray at(z);
    WriteArray result(f);
    for (std::size_t row = 0; row < loop.u_.size(); ++row) {
      loop.u_[row].value = at[row] * loop.column_scale_[row];
    }
    if (!loop.rows_at(loop.u_)) {
      std::fill_n(result.data(), loop.u_.size(), std::numeric_limits<double>::infinity());
      return SNESSetFunctionDomainError(snes);
    }
    for (std::size_t row = 0; row < loop.u_.size(); ++row) {
      result[row] = loop.rows_[row].value / loop.row_scale_[row];
    }
    return 0;
  });
}

PetscErrorCode AlgebraicLoop::form_jacobian(SNES snes, Vec z, Mat, Mat, void* self) {
  auto& loop = *static_cast<AlgebraicLoop*>(self);
  return loop.guard_.run(static_cast<PetscErrorCode>(PETSC_ERR_LIB), [&]() -> PetscErrorCode {
    PetscInt it = 0;
    PetscCall(SNESGetIterationNumber(snes, &it));
    if ((it == 0 && loop.jacobian_here_) || (loop.jacobian_kept_ && !loop.renew_)) {
      return 0;
    }
    {
      const ReadArray at(z);
      for (std::size_t row = 0; row < loop.u_.size(); ++row) {
        loop.u_[row].value = at[row] * loop.column_scale_[row];
      }
    }
    loop.jacobian_kept_ = false;
    loop.jacobian_here_ = loop.linearize();
    return loop.jacobian_here_ ? PetscErrorCode(0) : SNESSetJacobianDomainError(snes);
  });
}

PetscErrorCode AlgebraicLoop::apply_factors(PC pc, Vec b, Vec x) {
  void* self = nullptr;
  PetscCall(PCShellGetContext(pc, &self));
  auto& loop = *static_cast<AlgebraicLoop*>(self);
  return loop.guard_.run(static_cast<PetscErrorCode>(PETSC_ERR_LIB), [&]() -> PetscErrorCode {
    const ReadArray right(b);
    WriteArray solution(x);
    loop.factors_.solve({right.data(), loop.u_.size()}, {solution.data(), loop.u_.size()});
    return 0;
  });
}

PetscErrorCode AlgebraicLoop::test(SNES snes, PetscInt it, PetscReal xnorm, PetscReal snorm,
                                   PetscReal fnorm, SNESConvergedReason* reason, void* self) {
  const auto& loop = *static_cast<AlgebraicLoop*>(self);
  PetscBool newton = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(snes), SNESNEWTONLS, &newton));
  if (std::isfinite(fnorm) && loop.at_rounding(newton ? rounding : loose_rounding)) {
    *reason = SNES_CONVERGED_FNORM_ABS;
    return 0;
  }
  return SNESConvergedDefault(snes, it, xnorm, snorm, fnorm, reason, nullptr);
}

/// Newton's correction before the line search sees it.
PetscErrorCode AlgebraicLoop::look_at_correction(SNESLineSearch search, Vec z, Vec y,
                                                 PetscBool* changed, void* self) {
  auto& loop = *static_cast<AlgebraicLoop*>(self);
  *changed = PETSC_FALSE;
  double worst = 0.0;
  {
    const ReadArray at(z), step(y);
    for (std::size_t row = 0; row < loop.u_.size(); ++row) {
      loop.correction_[row] = step[row];
      worst = std::max(worst, std::abs(step[row]) / std::max(std::abs(at[row]), near_zero));
    }
  }
  if (worst <= (loop.jacobian_here_ ? last_correction_here : last_correction_kept)) {
    SNES snes = nullptr;
    loop.corrected_ = true;
    *changed = PETSC_TRUE;
    PetscCall(VecSet(y, 0.0));
    PetscCall(SNESLineSearchGetSNES(search, &snes));
    return SNESSetConvergedReason(snes, SNES_CONVERGED_SNORM_RELATIVE);
  }
  loop.renew_ = worst > poor_contraction * loop.last_correction_;
  loop.last_correction_ = worst;
  return 0;
}

}  // namespace concord
