#pragma once

#include <vector>

#include "coupling/problem/subsystem_gains.hpp"
#include "support/petsc.hpp"

namespace concord {

/// I - P K as a distributed AIJ matrix on the connected inputs' (u, u'), rows and columns
/// distributed like the subsystems: the Jacobian of the coupling residual.
class InputOperator {
 public:
  /// Assembled at once, with the gains of `layout`, so that the pattern is complete.
  InputOperator(const RankNetwork& subsystems, const SubsystemGains& layout);

  Mat matrix() const { return matrix_; }
  PetscInt own_rows() const { return own_rows_; }

  /// Assembles T^-1 (I - P K) S from the gains of all ranks; T and S are the diagonals of the
  /// residual's and the unknown's scale, own entries. Collective.
  void assemble(const SubsystemGains& gains, Vec residual_scale, Vec scale);

 private:
  struct Target {
    PetscInt row;  ///< first of the fed input's rows
    double factor;
  };
  struct Source {
    std::size_t subsystem;
    std::size_t output;  ///< of the subsystem
    std::vector<Target> targets;
  };
  void preallocate(const RankNetwork& subsystems, const std::vector<PetscInt>& row_of);

  int parts_;
  PetscInt own_rows_ = 0;
  PetscInt first_row_ = 0;
  std::vector<Source> sources_;
  std::vector<std::vector<PetscInt>> columns_;  ///< per own subsystem
  std::vector<double> row_values_;
  MatHandle matrix_;
  VecHandle inverse_scale_;
};

}  // namespace concord
