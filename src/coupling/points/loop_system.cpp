#include "coupling/points/loop_system.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

LoopSystem::LoopSystem(RankNetwork& subsystems, const FeedthroughComponent& loop)
    : equations_(subsystems, loop) {
  if (!equations_.here()) {
    return;
  }
  const auto n = static_cast<PetscInt>(equations_.size());
  std::vector<PetscInt> starts(equations_.row_starts().begin(), equations_.row_starts().end());
  std::vector<PetscInt> columns(equations_.columns().begin(), equations_.columns().end());
  const std::vector<PetscScalar> zeros(columns.size());
  petsc(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 0, nullptr, jacobian_.out()));
  petsc(MatSeqAIJSetPreallocationCSR(jacobian_, starts.data(), columns.data(), zeros.data()));
}

void LoopSystem::enter(PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
                       std::span<Sample> outputs) {
  place_ = {&point, inputs, outputs, wanted};
}

bool LoopSystem::evaluate() {
  if (!equations_.evaluate(*place_.point, place_.wanted, u_, place_.inputs, place_.outputs,
                           rows_)) {
    return false;
  }
  const double closed = opening_.closed;
  for (std::size_t row = 0; closed < 1.0 && row < rows_.size(); ++row) {
    double& value = rows_[row].value;
    value = equations_.is_constraint(row)
                ? value - (1.0 - closed) * opening_.rows[row].value
                : closed * value + (1.0 - closed) * (u_[row].value - opening_.u[row].value);
  }
  return true;
}

std::optional<std::string> LoopSystem::begin_afresh() {
  if (!evaluate()) {
    return "its outputs cannot be evaluated there";
  }
  row_scale_.clear();
  choose_scales();
  if (!linearize()) {
    return "its outputs cannot be differentiated there";
  }
  return std::nullopt;
}

/// A variable that has been nothing but 0 has the size that others give it through the loop.
void LoopSystem::choose_scales() {
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
void LoopSystem::take_sizes_from_terms() {
  const std::size_t n = equations_.size();
  std::vector<double> increments(n), terms_of_equations(n, 0.0), moved(n, 0.0);
  std::transform(column_scale_.begin(), column_scale_.end(), increments.begin(),
                 [](double size) { return size > 0.0 ? size : 1.0; });
  if (!equations_.linearize(*place_.point, increments, place_.inputs, values_)) {
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
double LoopSystem::size_from_others(std::size_t row) const {
  double sum = 0.0;
  for (auto e = equations_.row_starts()[row]; e < equations_.row_starts()[row + 1]; ++e) {
    const std::size_t column = equations_.columns()[e];
    sum += column == row ? 0.0 : std::abs(values_[e]) * column_scale_[column];
  }
  return sum;
}

bool LoopSystem::linearize() {
  equations_.write(u_, place_.inputs);
  if (!equations_.linearize(*place_.point, column_scale_, place_.inputs, values_)) {
    return false;
  }
  close_partly();
  if (row_scale_.empty()) {
    scale_rows();
  }
  factor();
  return !singular_;
}

void LoopSystem::scale_rows() {
  row_scale_ = column_scale_;
  for (std::size_t row = 0; row < row_scale_.size(); ++row) {
    const double size = equations_.is_constraint(row) ? size_from_others(row) : 0.0;
    row_scale_[row] = size > 0.0 ? size : row_scale_[row];
  }
}

void LoopSystem::factor() {
  const auto& starts = equations_.row_starts();
  const auto& columns = equations_.columns();
  PetscScalar* scaled = nullptr;
  petsc(MatSeqAIJGetArrayWrite(jacobian_, &scaled));
  for (std::size_t row = 0; row < equations_.size(); ++row) {
    for (auto e = starts[row]; e < starts[row + 1]; ++e) {
      scaled[e] = values_[e] * column_scale_[columns[e]] / row_scale_[row];
    }
  }
  singular_ = !factors_.compute(starts, columns, {scaled, columns.size()});
  petsc(MatSeqAIJRestoreArrayWrite(jacobian_, &scaled));
  petsc(MatAssemblyBegin(jacobian_, MAT_FINAL_ASSEMBLY));
  petsc(MatAssemblyEnd(jacobian_, MAT_FINAL_ASSEMBLY));
}

std::vector<double> LoopSystem::linearized() const {
  std::vector<double> numbers = column_scale_;
  numbers.insert(numbers.end(), row_scale_.begin(), row_scale_.end());
  numbers.insert(numbers.end(), values_.begin(), values_.end());
  return numbers;
}

void LoopSystem::take_linearized(std::span<const double> numbers) {
  const std::size_t n = equations_.size();
  const auto columns = numbers.first(n), rows = numbers.subspan(n, n),
             rest = numbers.subspan(2 * n);
  column_scale_.assign(columns.begin(), columns.end());
  row_scale_.assign(rows.begin(), rows.end());
  values_.assign(rest.begin(), rest.end());
  factor();
}

/// The Jacobian of s (u - P g) + (1 - s) (u - u_0); that of a constraint stays.
void LoopSystem::close_partly() {
  if (opening_.closed == 1.0) {
    return;
  }
  for (std::size_t row = 0; row < equations_.size(); ++row) {
    if (equations_.is_constraint(row)) {
      continue;
    }
    for (auto e = equations_.row_starts()[row]; e < equations_.row_starts()[row + 1]; ++e) {
      const double identity = equations_.columns()[e] == row ? 1.0 : 0.0;
      values_[e] = opening_.closed * values_[e] + (1.0 - opening_.closed) * identity;
    }
  }
}

double LoopSystem::terms(std::size_t row, double Sample::*part) const {
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

bool LoopSystem::at_rounding(double allowed) const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const double size =
        std::max(terms(row, &Sample::value), LoopLimits::near_zero * row_scale_[row]);
    if (!(std::abs(rows_[row].value) <= allowed * size)) {
      return false;
    }
  }
  return true;
}

void LoopSystem::open() {
  opening_.u = u_;
  opening_.rows = rows_;
}

}  // namespace concord
