#include "coupling/problem/input_operator.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "support/ranks.hpp"
#include "support/vec_entries.hpp"

namespace concord {
namespace {

/// First row of every global input that is connected: rank after rank, in each rank's own order.
std::vector<PetscInt> rows_of_inputs(const RankNetwork& subsystems, int parts) {
  const Network& network = subsystems.network();
  const int ranks = ranks_of(subsystems.comm());
  std::vector<std::vector<std::size_t>> by_rank(static_cast<std::size_t>(ranks));
  for (std::size_t k = 0; k < network.n_subsystems(); ++k) {
    auto& inputs = by_rank[static_cast<std::size_t>(subsystems.partition().rank_of(k))];
    for (std::size_t i = network.inputs_of(k).first; i < network.inputs_of(k).last; ++i) {
      if (network.coupled_links()[i]) {
        inputs.push_back(i);
      }
    }
  }
  std::vector<PetscInt> row(network.n_inputs(), -1);
  PetscInt next = 0;
  for (const auto& inputs : by_rank) {
    for (const std::size_t i : inputs) {
      row[i] = next;
      next += parts;
    }
  }
  return row;
}

}  // namespace

InputOperator::InputOperator(const RankNetwork& subsystems, const SubsystemGains& layout,
                             const std::optional<SolverOptions>& options)
    : parts_(layout.parts()), options_(options) {
  const Network& network = subsystems.network();
  const auto row_of = rows_of_inputs(subsystems, parts_);
  own_rows_ = static_cast<PetscInt>(subsystems.connected_inputs().size()) * parts_;

  std::vector<std::vector<Target>> targets(subsystems.n_outputs());
  const int rank = rank_in(subsystems.comm());
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    const auto& link = network.coupled_links()[i];
    if (link && subsystems.partition().rank_of(network.subsystem_of_output(link->output)) == rank)
      targets[subsystems.local_output(link->output)].push_back({row_of[i], link->factor});
  }
  for (const std::size_t k : subsystems.all()) {
    const IndexRange outputs = subsystems.outputs_of(k);
    for (std::size_t o = outputs.first; o < outputs.last; ++o) {
      if (targets[o].empty() || layout.inputs(k).empty()) continue;
      targets_.insert(targets_.end(), targets[o].begin(), targets[o].end());
      sources_.push_back({k, o - outputs.first, targets_.size()});
    }
  }
  preallocate(subsystems, layout);
  VecHandle ones;
  petsc(VecDuplicate(inverse_scale_, ones.out()));
  petsc(VecSet(ones, 1.0));
  assemble(layout, ones, ones);
  solver_ = linear_solver(matrix_, diagonal_of(subsystems), options);
  direct_ = is_plainly_direct(solver_, options);
}

/// `use(row, factor, source, row of its gains)` of all rows that own subsystems feed.
template <class Use>
void InputOperator::for_rows(const Use& use) const {
  std::size_t first = 0;
  for (const Source& source : sources_) {
    const std::span own(targets_.begin() + static_cast<std::ptrdiff_t>(first),
                        targets_.begin() + static_cast<std::ptrdiff_t>(source.last_target));
    for (int part = 0; part < parts_; ++part)
      for (const Target& target : own)
        use(target.row + part, target.factor, source, source.output * parts_ + part);
    first = source.last_target;
  }
}

/// A row has what the output that feeds it answers to, which its owner's rank knows, and 1.
void InputOperator::preallocate(const RankNetwork& subsystems, const SubsystemGains& layout) {
  petsc(MatCreate(subsystems.comm(), matrix_.out()));
  petsc(MatSetSizes(matrix_, own_rows_, own_rows_, PETSC_DETERMINE, PETSC_DETERMINE));
  petsc(MatSetType(matrix_, MATAIJ));
  VecHandle counts;
  petsc(VecCreateMPI(subsystems.comm(), own_rows_, PETSC_DETERMINE, counts.out()));
  for_rows([&](PetscInt row, double, const Source& source, std::size_t from) {
    PetscScalar count = 0.0;
    layout.for_row(source.subsystem, from, [&](std::size_t, double) { count += 1.0; });
    petsc(VecSetValue(counts, row, count, INSERT_VALUES));
  });
  petsc(VecAssemblyBegin(counts));
  petsc(VecAssemblyEnd(counts));
  std::vector<PetscInt> here, others;
  const Network& network = subsystems.network();
  const int rank = rank_in(subsystems.comm());
  const ReadEntries count(counts);
  for (const std::size_t k : subsystems.all()) {
    const IndexRange inputs = network.inputs_of(subsystems.global(k));
    for (std::size_t i = inputs.first; i < inputs.last; ++i) {
      const auto& link = network.coupled_links()[i];
      if (!link) continue;
      const std::size_t source = network.subsystem_of_output(link->output);
      const bool own = subsystems.partition().rank_of(source) == rank;
      for (int part = 0; part < parts_; ++part) {
        const auto entries = static_cast<PetscInt>(count[here.size()]);
        here.push_back(own ? entries + 1 : 1);
        others.push_back(own ? 0 : entries);
      }
    }
  }
  petsc(MatXAIJSetPreallocation(matrix_, 1, here.data(), others.data(), nullptr, nullptr));
  petsc(MatCreateVecs(matrix_, inverse_scale_.out(), nullptr));
  petsc(MatGetOwnershipRange(matrix_, &first_row_, nullptr));
}

PetscInt InputOperator::first_column_of(const Source& source, const SubsystemGains& gains) const {
  return first_row_ + static_cast<PetscInt>(gains.first_input(source.subsystem)) * parts_;
}

/// The block of own rows and columns.
Mat InputOperator::own_block() const {
  Mat block = matrix_;
  PetscBool distributed = PETSC_FALSE;
  petsc(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(block), MATMPIAIJ, &distributed));
  if (distributed == PETSC_TRUE) petsc(MatMPIAIJGetSeqAIJ(block, &block, nullptr, nullptr));
  return block;
}

/// The entries of I - P K for the first time; those of one place add up.
void InputOperator::set_values(const SubsystemGains& gains) {
  for (PetscInt row = first_row_; row < first_row_ + own_rows_; ++row)
    petsc(MatSetValue(matrix_, row, row, 1.0, ADD_VALUES));
  for_rows([&](PetscInt row, double factor, const Source& source, std::size_t from) {
    const PetscInt first = first_column_of(source, gains);
    gains.for_row(source.subsystem, from, [&](std::size_t column, double gain) {
      const auto c = first + static_cast<PetscInt>(column);
      petsc(MatSetValue(matrix_, row, c, -factor * gain, ADD_VALUES));
    });
  });
}

/// The same where the pattern is known. Those of own rows and columns stand one behind the other in
/// a row, with nothing but its diagonal between them; PETSc would search for each.
void InputOperator::write_values(const SubsystemGains& gains) {
  PetscInt n = 0;
  const PetscInt *rows = nullptr, *columns = nullptr;
  PetscBool done = PETSC_FALSE;
  double* entries = nullptr;
  const Mat block = own_block();
  petsc(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows, &columns, &done));
  petsc(MatSeqAIJGetArray(block, &entries));
  const auto place_of = [&](PetscInt row, PetscInt column) {
    return static_cast<PetscInt>(
        std::lower_bound(columns + rows[row], columns + rows[row + 1], column) - columns);
  };
  for (PetscInt row = 0; row < own_rows_; ++row) entries[place_of(row, row)] += 1.0;
  for_rows([&](PetscInt row, double factor, const Source& source, std::size_t from) {
    const PetscInt r = row - first_row_;
    const PetscInt first = first_column_of(source, gains) - first_row_;
    const bool own = r >= 0 && r < own_rows_;
    PetscInt place = own ? place_of(r, first) : 0;
    gains.for_row(source.subsystem, from, [&](std::size_t column, double gain) {
      const PetscInt c = first + static_cast<PetscInt>(column);
      if (own) {
        while (columns[place] != c) ++place;
        entries[place] += -factor * gain;
      } else {
        petsc(MatSetValue(matrix_, row, c + first_row_, -factor * gain, ADD_VALUES));
      }
    });
  });
  petsc(MatSeqAIJRestoreArray(block, &entries));
  petsc(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows, &columns, &done));
}

void InputOperator::assemble(const SubsystemGains& gains, Vec residual_scale, Vec scale) {
  petsc(MatZeroEntries(matrix_));
  if (is_filled_)
    write_values(gains);
  else
    set_values(gains);
  is_filled_ = true;
  petsc(MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY));
  petsc(MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY));
  petsc(VecCopy(residual_scale, inverse_scale_));
  petsc(VecReciprocal(inverse_scale_));
  petsc(MatDiagonalScale(matrix_, inverse_scale_, scale));
  has_factors_ = false;
  ++contents_;
}

/// A direct solver is its preconditioner, which notices by itself when the matrix has changed:
/// KSPSolve's look at its options costs ten times a small interface's substitution.
bool InputOperator::solve(Vec right_side, Vec unknown) {
  if (direct_ && std::exchange(set_up_, true)) {
    has_factors_ = has_factors_ || set_up(solver_, matrix_, matrix_);
    if (!has_factors_) return false;
    PC pc = nullptr;
    PCFailedReason failed = PC_NOERROR;
    petsc(KSPGetPC(solver_, &pc));
    petsc(PCApply(pc, right_side, unknown));
    petsc(PCGetFailedReason(pc, &failed));
    if (failed == PC_NOERROR) {
      return true;
    }
  }
  return concord::solve(solver_, matrix_, right_side, unknown, options_);
}

PetscInt InputOperator::iterations() const {
  PetscInt iterations = 0;
  petsc(KSPGetIterationNumber(solver_, &iterations));
  return iterations;
}

void InputOperator::view() const {
  MPI_Comm comm = MPI_COMM_NULL;
  petsc(PetscObjectGetComm(reinterpret_cast<PetscObject>(matrix_.operator Mat()), &comm));
  begin_view(solver_, matrix_);
  petsc(KSPView(solver_, PETSC_VIEWER_STDOUT_(comm)));
}

}  // namespace concord
