#include "coupling/points/algebraic_loop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace concord {
namespace {

/// Change of inputs in a macro-step, relative to their sizes, that noise of slopes may make.
constexpr double noise_in_a_step = 1e-6;

}  // namespace

AlgebraicLoop::AlgebraicLoop(RankNetwork& subsystems, const FeedthroughComponent& loop)
    : equations_(subsystems, loop) {
  if (here()) {
    create_solver();
  }
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
  if (!all) {
    take_sizes_from_terms();
  }
  for (double& size : column_scale_) {
    size = size > 0.0 && std::isfinite(size) ? size : 1.0;
  }
}

/// An unknown, and what it feeds, moves by as much as balances its equation's terms, which are in
/// another unit; an input by what the row's other terms say.
void AlgebraicLoop::take_sizes_from_terms() {
  const std::size_t n = equations_.size();
  std::vector<double> increments(n), terms_of_equations(n, 0.0), moved(n, 0.0);
  std::transform(column_scale_.begin(), column_scale_.end(), increments.begin(),
                 [](double size) { return size > 0.0 ? size : 1.0; });
  if (!equations_.linearize(*point_, increments, inputs_, values_)) {
    return;
  }
  for (std::size_t row = 0; row < n; ++row) {
    terms_of_equations[row] = equations_.is_constraint(row) ? terms(row, &Sample::value) : 0.0;
  }
  if (factors_.compute(equations_.row_starts(), equations_.columns(), values_)) {
    factors_.solve(terms_of_equations, moved);
  }
  for (std::size_t row = 0; row < n; ++row) {
    double& size = column_scale_[row];
    size = size > 0.0 ? size : std::abs(moved[row]);
    if (!(size > 0.0) && !equations_.is_constraint(row)) {
      size = size_from_others(row);
    }
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
