#include "coupling/problem/input_system.hpp"

#include "support/agreement.hpp"
#include "support/vec_entries.hpp"

namespace concord {

InputSystem::InputSystem(RankNetwork& subsystems, const ConstraintRows& constraints)
    : subsystems_(subsystems),
      constraints_(constraints),
      gains_(subsystems, 1),
      operator_(subsystems, gains_, SolverOptions{"estimate_", 1e-6}),
      scale_values_(subsystems.connected_inputs().size(), 1.0),
      row_scale_values_(scale_values_),
      right_side_values_(scale_values_),
      solution_(scale_values_) {
  petsc(MatCreateVecs(operator_.matrix(), unknown_.out(), right_side_.out()));
  petsc(VecDuplicate(unknown_, scale_.out()));
  petsc(VecDuplicate(unknown_, row_scale_.out()));
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
  copy(scale_values_, scale_);
  copy(row_scale_values_, row_scale_);
  operator_.assemble(gains_, row_scale_, scale_);
}

bool InputSystem::solve() {
  for (std::size_t j = 0; j < right_side_values_.size(); ++j) {
    right_side_values_[j] /= row_scale_values_[j];
  }
  copy(right_side_values_, right_side_);
  const bool solved = operator_.solve(right_side_, unknown_);
  const ReadEntries u(unknown_);
  for (std::size_t j = 0; j < solution_.size(); ++j) {
    solution_[j] = u[j] * scale_values_[j];
  }
  return solved;
}

}  // namespace concord
