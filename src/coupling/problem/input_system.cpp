#include "coupling/problem/input_system.hpp"

#include <algorithm>

#include "support/agreement.hpp"
#include "support/vec_entries.hpp"

namespace concord {

InputSystem::InputSystem(RankNetwork& subsystems, const ConstraintRows& constraints, int parts,
                         const SolverOptions& options, std::span<const char> sparse)
    : subsystems_(subsystems),
      constraints_(constraints),
      options_(options),
      gains_(subsystems, parts, sparse),
      operator_(subsystems, gains_, options),
      scale_values_(subsystems.connected_inputs().size(), 1.0),
      row_scale_values_(scale_values_),
      right_side_values_(scale_values_.size() * static_cast<std::size_t>(parts)),
      solution_(right_side_values_) {
  petsc(MatCreateVecs(operator_.matrix(), unknown_.out(), right_side_.out()));
}

void InputSystem::assemble() {
  const auto& connected = subsystems_.connected_inputs();
  const auto positive = [](double size) { return size > 0.0 ? size : 1.0; };
  for (std::size_t j = 0; j < connected.size(); ++j) {
    scale_values_[j] = positive(subsystems_.input_sizes()[connected[j]]);
    row_scale_values_[j] =
        constraints_.is_equation(j) ? positive(constraints_.usual_size(j)) : scale_values_[j];
  }
  assemble_scaled();
}

void InputSystem::assemble_as(const InputSystem& other) {
  scale_values_ = other.scale_values_;
  row_scale_values_ = other.row_scale_values_;
  assemble_scaled();
}

void InputSystem::io(Archive& archive) {
  const bool changed = archive.changes([&] {
    CONCORD_MEMBERS(archive, gains_);
    CONCORD_MEMBERS_PER(archive, Per::connected, scale_values_, row_scale_values_);
  });
  if (agree_on_largest(subsystems_.comm(), changed ? 1 : 0) != 0) {
    assemble_scaled();
  }
}

void InputSystem::assemble_scaled() {
  VecHandle scale, row_scale;
  petsc(VecDuplicate(unknown_, scale.out()));
  petsc(VecDuplicate(unknown_, row_scale.out()));
  spread(scale_values_, scale);
  spread(row_scale_values_, row_scale);
  operator_.assemble(gains_, row_scale, scale);
}

void InputSystem::spread(std::span<const double> per_input, Vec per_part) {
  const auto parts = static_cast<std::size_t>(gains_.parts());
  std::vector<double> values(solution_.size());
  for (std::size_t j = 0; j < per_input.size(); ++j)
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(j * parts), parts, per_input[j]);
  copy(values, per_part);
}

bool InputSystem::solve() {
  const auto parts = static_cast<std::size_t>(gains_.parts());
  for (std::size_t j = 0, r = 0; j < row_scale_values_.size(); ++j) {
    for (std::size_t part = 0; part < parts; ++part)
      right_side_values_[r++] /= row_scale_values_[j];
  }
  copy(right_side_values_, right_side_);
  const bool solved = operator_.solve(right_side_, unknown_);
  const ReadEntries u(unknown_);
  for (std::size_t j = 0, r = 0; j < scale_values_.size(); ++j) {
    for (std::size_t part = 0; part < parts; ++part, ++r) solution_[r] = u[r] * scale_values_[j];
  }
  return solved;
}

}  // namespace concord
