#pragma once

#include <span>
#include <vector>

#include "coupling/problem/constraint_rows.hpp"
#include "coupling/problem/input_operator.hpp"
#include "support/petsc.hpp"

namespace concord {

/// (I - P K) u = b for the values of all connected inputs, in the units of the inputs and, where a
/// row is the equation of a constraint, of what its terms usually sum to. An input may have several
/// values, its `parts`, as at the nodes of a macro-step; they stand side by side.
class InputSystem {
 public:
  InputSystem(RankNetwork& subsystems, const ConstraintRows& constraints, int parts,
              const SolverOptions& options, std::span<const char> sparse = {});

  /// K, to be filled before `assemble`.
  SubsystemGains& gains() { return gains_; }
  void assemble();
  /// In units of another one's.
  void assemble_as(const InputSystem& other);
  bool is_scaled_as(const InputSystem& other) const {
    return scale_values_ == other.scale_values_ && row_scale_values_ == other.row_scale_values_;
  }

  /// K has come to have other entries (SubsystemGains). Collective.
  void restructure() { operator_ = InputOperator(subsystems_, gains_, options_); }

  /// What was assembled last. Collective.
  void io(Archive& archive);

  /// b, of this rank's rows; written in place before `solve`.
  std::span<double> right_side() { return right_side_values_; }

  /// False where it could not be solved. Collective.
  bool solve();

  /// u, of this rank's connected inputs.
  std::span<const double> solution() const { return solution_; }

  PetscInt iterations() const { return operator_.iterations(); }  ///< of the last `solve`
  void view() const { operator_.view(); }

 private:
  void assemble_scaled();
  void spread(std::span<const double> per_input, Vec per_part);

  RankNetwork& subsystems_;
  const ConstraintRows& constraints_;
  SolverOptions options_;
  SubsystemGains gains_;
  InputOperator operator_;
  VecHandle unknown_, right_side_;
  std::vector<double> scale_values_, row_scale_values_;  ///< per input, of all its parts
  std::vector<double> right_side_values_, solution_;
};

}  // namespace concord
