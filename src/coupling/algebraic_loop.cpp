#include "coupling/algebraic_loop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace concord {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Rest of a row beside its terms that is their rounding.
constexpr double rounding = 16.0 * epsilon;

/// The same for solvers that know no Jacobian, and after the last correction.
constexpr double loose_rounding = 1e-12;

/// Newton's correction, relative to the unknown, after which nothing but rounding is left: with a
/// Jacobian at the point the error is its square, else it shrinks by the contraction only.
constexpr double last_correction_here = 1e-8;
constexpr double last_correction_kept = 1e-14;

/// Contraction from which a kept Jacobian is renewed.
constexpr double poor_contraction = 0.1;

/// Change of inputs in a macro-step, relative to their sizes, that noise of slopes may make.
constexpr double noise_in_a_step = 1e-6;

/// What of a variable's size still counts where its value is near 0.
constexpr double near_zero = 1e-6;

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

AlgebraicLoop::AlgebraicLoop(RankNetwork& subsystems, const FeedthroughComponent& loop)
    : equations_(subsystems, loop) {
  if (here()) {
    create_solver();
  }
}

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

bool AlgebraicLoop::solve_values(PointEvaluation& point, std::span<Sample> inputs,
                                 std::span<Sample> outputs) {
  point_ = &point;
  inputs_ = inputs;
  outputs_ = outputs;
  wanted_ = Wanted::values;
  failure_.clear();
  reason_.clear();
  jacobian_kept_ = jacobian_kept_ && point.whole();
  if (!started_) {
    equations_.take_missing_starts(point, inputs, outputs);
  }
  equations_.read(inputs, guess_);
  started_ = from_guess() || from_elsewhere() || little_by_little();
  if (!started_) {
    explain();
  }
  jacobian_kept_ = jacobian_kept_ && point.whole();
  equations_.write(u_, inputs);
  return started_;
}

bool AlgebraicLoop::from_guess() {
  u_ = guess_;
  if (jacobian_kept_ && attempt()) {
    return true;
  }
  u_ = guess_;
  jacobian_kept_ = false;
  if (attempt()) {
    return true;
  }
  explain();
  return false;
}

/// From the variables' sizes where the guess is 0; from beside the guess where the loop is singular
/// there, which need not hold elsewhere.
bool AlgebraicLoop::from_elsewhere() {
  const bool singular_at_guess = singular_;
  const auto sizes = equations_.sizes();
  u_ = guess_;
  bool changed = singular_at_guess;
  for (std::size_t row = 0; row < u_.size(); ++row) {
    double& value = u_[row].value;
    if (value == 0.0 && sizes[row] > 0.0) {
      value = sizes[row];
      changed = true;
    } else if (singular_at_guess) {
      value += (0.1 + 0.01 * static_cast<double>(row % 7)) * column_scale_[row];
    }
  }
  if (changed && attempt()) {
    return true;
  }
  if (singular_at_guess && !singular_) {
    failure_.clear();
    explain();
  }
  return false;
}

/// From s = 0, where u_0 is the solution, to s = 1.
bool AlgebraicLoop::little_by_little() {
  constexpr double smallest = 1.0 / 64.0;
  u_ = guess_;
  if (singular_ || !rows_at(guess_)) {
    return false;
  }
  rows_at_guess_ = rows_;
  std::vector<Sample> last = guess_;
  double reached = 0.0;
  for (double step = 0.25; reached < 1.0 && step >= smallest;) {
    closed_ = std::min(1.0, reached + step);
    const double tried = closed_;
    const bool solved = attempt();
    closed_ = 1.0;
    if (solved) {
      last = u_;
      reached = tried;
      step *= 2.0;
    } else {
      u_ = last;
      step *= 0.5;
    }
    jacobian_kept_ = solved && reached == 1.0;
  }
  return reached == 1.0;
}

/// From u_, by a kept Jacobian or a new one.
bool AlgebraicLoop::attempt() {
  singular_ = false;
  if (!jacobian_kept_ && !begin_afresh()) {
    return false;
  }
  jacobian_here_ = !jacobian_kept_;
  renew_ = false;
  return run_newton();
}

/// Scales and a Jacobian at u_.
bool AlgebraicLoop::begin_afresh() {
  if (!rows_at(u_)) {
    reason_ = "its outputs cannot be evaluated there";
    return false;
  }
  column_scale_.clear();
  row_scale_.clear();
  choose_scales();
  return linearize();
}

/// A variable that has been nothing but 0 has the size that others give it through the loop.
void AlgebraicLoop::choose_scales() {
  const std::size_t n = equations_.size();
  column_scale_ = equations_.sizes();
  for (std::size_t row = 0; row < n; ++row) {
    if (!(column_scale_[row] > 0.0)) {
      const double fed = equations_.is_constraint(row) ? 0.0 : u_[row].value - rows_[row].value;
      column_scale_[row] = std::max(std::abs(u_[row].value), std::abs(fed));
    }
  }
  const bool all = std::all_of(column_scale_.begin(), column_scale_.end(),
                               [](double size) { return size > 0.0; });
  if (!all && equations_.linearize(*point_, column_scale_, inputs_, values_)) {
    for (std::size_t row = 0; row < n; ++row) {
      if (!(column_scale_[row] > 0.0)) {
        column_scale_[row] = size_from_others(row);
      }
    }
  }
  for (double& size : column_scale_) {
    size = size > 0.0 && std::isfinite(size) ? size : 1.0;
  }
}

/// What the others' sizes make of row `row`, but its own entry.
double AlgebraicLoop::size_from_others(std::size_t row) const {
  double sum = 0.0;
  for (auto e = equations_.row_starts()[row]; e < equations_.row_starts()[row + 1]; ++e) {
    const std::size_t column = equations_.columns()[e];
    sum += column == row ? 0.0 : std::abs(values_[e]) * column_scale_[column];
  }
  return sum;
}

/// At u_: the Jacobian of f by z, its factors and, where there are none yet, the scales of rows.
bool AlgebraicLoop::linearize() {
  equations_.write(u_, inputs_);
  if (!equations_.linearize(*point_, column_scale_, inputs_, values_)) {
    reason_ = "its outputs cannot be differentiated there";
    return false;
  }
  close_partly();
  const std::size_t n = equations_.size();
  if (row_scale_.empty()) {
    row_scale_ = column_scale_;
    for (std::size_t row = 0; row < n; ++row) {
      const double size = equations_.is_constraint(row) ? size_from_others(row) : 0.0;
      row_scale_[row] = size > 0.0 ? size : row_scale_[row];
    }
  }
  for (std::size_t row = 0; row < n; ++row) {
    for (auto e = equations_.row_starts()[row]; e < equations_.row_starts()[row + 1]; ++e) {
      scaled_[e] = values_[e] * column_scale_[equations_.columns()[e]] / row_scale_[row];
    }
  }
  PetscScalar* entries = nullptr;
  petsc(MatSeqAIJGetArrayWrite(jacobian_, &entries));
  std::copy(scaled_.begin(), scaled_.end(), entries);
  petsc(MatSeqAIJRestoreArrayWrite(jacobian_, &entries));
  petsc(MatAssemblyBegin(jacobian_, MAT_FINAL_ASSEMBLY));
  petsc(MatAssemblyEnd(jacobian_, MAT_FINAL_ASSEMBLY));
  singular_ = !factors_.compute(equations_.row_starts(), equations_.columns(), scaled_);
  return !singular_;
}

/// The Jacobian of s (u - P g) + (1 - s) (u - u_0); that of a constraint stays.
void AlgebraicLoop::close_partly() {
  if (closed_ == 1.0) {
    return;
  }
  for (std::size_t row = 0; row < equations_.size(); ++row) {
    if (equations_.is_constraint(row)) {
      continue;
    }
    for (auto e = equations_.row_starts()[row]; e < equations_.row_starts()[row + 1]; ++e) {
      const double identity = equations_.columns()[e] == row ? 1.0 : 0.0;
      values_[e] = closed_ * values_[e] + (1.0 - closed_) * identity;
    }
  }
}

bool AlgebraicLoop::rows_at(std::span<const Sample> u) {
  if (!equations_.evaluate(*point_, wanted_, u, inputs_, outputs_, rows_)) {
    return false;
  }
  for (std::size_t row = 0; closed_ < 1.0 && row < rows_.size(); ++row) {
    double& value = rows_[row].value;
    value = equations_.is_constraint(row)
                ? value - (1.0 - closed_) * rows_at_guess_[row].value
                : closed_ * value + (1.0 - closed_) * (u[row].value - guess_[row].value);
  }
  return true;
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

/// Sum of the sizes of what a row adds up; a constraint adds up what has rounding of its own.
double AlgebraicLoop::terms(std::size_t row, double Sample::*part) const {
  const bool constraint = equations_.is_constraint(row);
  double sum =
      constraint ? 0.0 : std::abs(u_[row].*part) + std::abs(u_[row].*part - rows_[row].*part);
  for (auto e = equations_.row_starts()[row]; e < equations_.row_starts()[row + 1]; ++e) {
    const std::size_t column = equations_.columns()[e];
    if (values_.empty() || (column == row && !constraint)) {
      continue;
    }
    const bool sums = constraint && !equations_.is_constraint(column);
    sum += std::abs(values_[e]) * (sums ? terms(column, part) : std::abs(u_[column].*part));
  }
  return sum;
}

/// Near 0 a part of the row's size counts as a term.
bool AlgebraicLoop::at_rounding(double allowed) const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const double size = std::max(terms(row, &Sample::value), near_zero * row_scale_[row]);
    if (!(std::abs(rows_[row].value) <= allowed * size)) {
      return false;
    }
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

/// u' = P y'(u') is linear: corrected until its rows are at rounding, or until corrections with a
/// Jacobian at this point stop shrinking, which is the noise of y'.
bool AlgebraicLoop::solve_slopes(PointEvaluation& point, std::span<Sample> inputs,
                                 std::span<Sample> outputs) {
  constexpr int most = 20;
  point_ = &point;
  inputs_ = inputs;
  outputs_ = outputs;
  wanted_ = Wanted::values_and_derivatives;
  failure_.clear();
  equations_.read(inputs, u_);
  bool renewed = false;
  double before = std::numeric_limits<double>::infinity();
  for (int i = 0; i < most; ++i) {
    if (!rows_at(u_)) {
      break;
    }
    if (slopes_at_rounding()) {
      return true;
    }
    double worst = 0.0;
    const bool factored = !factors_.empty() || linearize();
    if (!factored || !correct_slopes(worst)) {
      break;
    }
    const bool stopped = worst > poor_contraction * before;
    if (stopped && (renewed || worst <= last_correction_here)) {
      return (worst <= 2.0 * before || slope_noise() <= noise_in_a_step) && rows_at(u_);
    }
    if (stopped && !linearize()) {
      break;
    }
    renewed = renewed || stopped;
    before = worst;
  }
  reason_ = "its slopes are not found";
  explain();
  return false;
}

/// What the last correction of slopes makes of the inputs in a macro-step, in their sizes.
double AlgebraicLoop::slope_noise() const {
  double largest = 0.0;
  for (const double change : correction_) {
    largest = std::max(largest, std::abs(change) * equations_.step());
  }
  return largest;
}

bool AlgebraicLoop::slopes_at_rounding() const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const double slope = rows_[row].derivative;
    if (!(std::abs(slope) <= rounding * terms(row, &Sample::derivative))) {
      return false;
    }
  }
  return true;
}

/// Of u_; `worst` is the largest correction relative to its slope.
bool AlgebraicLoop::correct_slopes(double& worst) {
  std::vector<double> right(u_.size());
  double largest = 0.0;
  for (std::size_t row = 0; row < u_.size(); ++row) {
    right[row] = rows_[row].derivative / row_scale_[row];
    largest = std::max(largest, std::abs(u_[row].derivative) / column_scale_[row]);
  }
  factors_.solve(right, correction_);
  worst = 0.0;
  for (std::size_t row = 0; row < u_.size(); ++row) {
    const double change = correction_[row];
    const double size = std::abs(u_[row].derivative) / column_scale_[row];
    worst = std::max(worst, std::abs(change) / std::max(size, near_zero * largest));
    u_[row].derivative -= change * column_scale_[row];
  }
  return !std::isnan(worst);
}

/// The first reason counts: that of the guess which the user gave.
void AlgebraicLoop::explain() {
  if (!failure_.empty()) {
    return;
  }
  std::ostringstream text;
  text << "algebraic loop " << equations_.text();
  if (singular_) {
    text << " is singular at t = " << point_->time()
         << " s: det(I - P D) of its direct feedthrough D is 0, so that it has no solution, or "
            "many; "
            "change its gains, or put a state into it";
    failure_ = text.str();
    return;
  }
  text << " has no solution that Newton's method finds at t = " << point_->time() << " s from ";
  constexpr std::size_t most = 8;
  for (std::size_t row = 0; row < std::min(most, guess_.size()); ++row) {
    text << (row > 0 ? ", " : "") << equations_.name(row) << " = " << guess_[row].value;
  }
  text << (guess_.size() > most ? ", ..." : "") << " (" << reason_;
  std::size_t worst = 0;
  for (std::size_t row = 0; row < rows_.size() && !row_scale_.empty(); ++row) {
    const auto scaled = [&](std::size_t r) { return std::abs(rows_[r].value) / row_scale_[r]; };
    worst = scaled(row) > scaled(worst) ? row : worst;
  }
  if (!rows_.empty() && !row_scale_.empty() && std::isfinite(rows_[worst].value)) {
    text << "; left at " << equations_.name(worst) << ": " << rows_[worst].value;
  }
  text << "); give start values of these inputs nearer to a solution, or try "
          "-loop_snes_linesearch_type l2 or -loop_snes_type ngmres";
  failure_ = text.str();
}

}  // namespace concord
