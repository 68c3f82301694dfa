#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coupling/problem/linear_solver_defaults.hpp"
#include "coupling/problem/subsystem_gains.hpp"
#include "support/petsc.hpp"

namespace concord {

/// I - P K as a distributed AIJ matrix on the connected inputs' (u, u', ...), rows and columns
/// distributed like the subsystems: the Jacobian of the coupling residual. With a linear solver,
/// whose factors are kept while the matrix stays.
///
/// One may serve several who solve for the same unknowns, with K of their own: `contents` tells
/// each whether it is still theirs.
class InputOperator {
 public:
  /// Assembled at once, with the gains of `layout`, so that the pattern is complete.
  InputOperator(const RankNetwork& subsystems, const SubsystemGains& layout,
                const std::optional<SolverOptions>& options = std::nullopt);

  Mat matrix() const { return matrix_; }
  PetscInt own_rows() const { return own_rows_; }

  /// Assembles T^-1 (I - P K) S from the gains of all ranks; T and S are the diagonals of the
  /// residual's and the unknown's scale, own entries. Collective.
  void assemble(const SubsystemGains& gains, Vec residual_scale, Vec scale);

  /// The same of what it was assembled from when it was archived: `contents` stays. Collective.
  void assemble_again(const SubsystemGains& gains, Vec residual_scale, Vec scale) {
    assemble(gains, residual_scale, scale);
    --contents_;
  }

  /// Another number each time that the entries have changed; the same on every rank.
  std::int64_t contents() const { return contents_; }

  /// The entries are not in it.
  void io(Archive& archive) { CONCORD_MEMBERS(archive, contents_); }

  /// unknown = matrix^-1 right_side; false where that cannot be had. Collective.
  bool solve(Vec right_side, Vec unknown);
  PetscInt iterations() const;  ///< of the last `solve`
  void view() const;

 private:
  struct Target {
    PetscInt row;  ///< first of the fed input's rows
    double factor;
  };
  struct Source {
    std::size_t subsystem;
    std::size_t output;       ///< of the subsystem
    std::size_t last_target;  ///< behind those of the sources before
  };
  template <class Use>
  void for_rows(const Use& use) const;
  void preallocate(const RankNetwork& subsystems, const SubsystemGains& layout);
  PetscInt first_column_of(const Source& source, const SubsystemGains& gains) const;
  Mat own_block() const;
  void set_values(const SubsystemGains& gains);
  void write_values(const SubsystemGains& gains);

  int parts_;
  PetscInt own_rows_ = 0, first_row_ = 0;
  std::vector<Source> sources_;
  std::vector<Target> targets_;
  MatHandle matrix_;
  VecHandle inverse_scale_;
  std::optional<SolverOptions> options_;
  KspHandle solver_;
  bool direct_ = false;  ///< and nobody watches it
  bool is_filled_ = false, set_up_ = false, has_factors_ = false;
  std::int64_t contents_ = 0;
};

}  // namespace concord
