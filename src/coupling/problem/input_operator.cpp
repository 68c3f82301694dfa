#include "coupling/problem/input_operator.hpp"

#include <algorithm>
#include <utility>

#include "support/ranks.hpp"

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

  std::vector<std::vector<Target>> targets(network.n_outputs());
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    if (const auto& link = network.coupled_links()[i]) {
      targets[link->output].push_back({row_of[i], link->factor});
    }
  }
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const std::size_t g = subsystems.global(k);
    auto& columns = columns_.emplace_back();
    for (std::size_t i = network.inputs_of(g).first; i < network.inputs_of(g).last; ++i) {
      for (int part = 0; network.coupled_links()[i] && part < parts_; ++part) {
        columns.push_back(row_of[i] + part);
      }
    }
    const IndexRange outputs = network.outputs_of(g);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (!targets[outputs.first + o].empty() && !columns.empty()) {
        sources_.push_back({k, o, std::move(targets[outputs.first + o])});
      }
    }
  }
  preallocate(subsystems.comm(), layout);
  VecHandle ones;
  petsc(VecDuplicate(inverse_scale_, ones.out()));
  petsc(VecSet(ones, 1.0));
  assemble(layout, ones, ones);
  solver_ = linear_solver(matrix_, diagonal_of(subsystems), options);
  direct_ = is_plainly_direct(solver_, options);
}

/// Where the values go that `write_values` writes, in its order.
void InputOperator::preallocate(MPI_Comm comm, const SubsystemGains& layout) {
  petsc(MatCreate(comm, matrix_.out()));
  petsc(MatSetSizes(matrix_, own_rows_, own_rows_, PETSC_DETERMINE, PETSC_DETERMINE));
  petsc(MatSetType(matrix_, MATAIJ));
  PetscLayout rows_of_ranks = nullptr;
  PetscInt first = 0;
  petsc(MatGetLayouts(matrix_, &rows_of_ranks, nullptr));
  petsc(PetscLayoutSetUp(rows_of_ranks));
  petsc(PetscLayoutGetRange(rows_of_ranks, &first, nullptr));
  std::vector<PetscInt> rows, entries;
  for (PetscInt row = first; row < first + own_rows_; ++row) {
    rows.push_back(row);
    entries.push_back(row);
  }
  for (const auto& source : sources_) {
    const auto& columns = columns_[source.subsystem];
    for (int part = 0; part < parts_; ++part) {
      for (const auto& target : source.targets) {
        layout.for_row(source.subsystem, source.output * parts_ + part,
                       [&](std::size_t column, double) {
                         rows.push_back(target.row + part);
                         entries.push_back(columns[column]);
                       });
      }
    }
  }
  values_.resize(rows.size());
  petsc(MatSetPreallocationCOO(matrix_, static_cast<PetscCount>(rows.size()), rows.data(),
                               entries.data()));
  petsc(MatCreateVecs(matrix_, inverse_scale_.out(), nullptr));
}

/// Of I - P K; those of one entry add up.
void InputOperator::write_values(const SubsystemGains& gains) {
  const auto diagonal = static_cast<std::size_t>(own_rows_);
  std::fill_n(values_.begin(), diagonal, 1.0);
  std::size_t next = diagonal;
  for (const auto& source : sources_) {
    for (int part = 0; part < parts_; ++part) {
      for (const auto& target : source.targets) {
        gains.for_row(source.subsystem, source.output * parts_ + part,
                      [&](std::size_t, double gain) { values_[next++] = -target.factor * gain; });
      }
    }
  }
}

void InputOperator::assemble(const SubsystemGains& gains, Vec residual_scale, Vec scale) {
  write_values(gains);
  petsc(MatSetValuesCOO(matrix_, values_.data(), INSERT_VALUES));
  petsc(VecCopy(residual_scale, inverse_scale_));
  petsc(VecReciprocal(inverse_scale_));
  petsc(MatDiagonalScale(matrix_, inverse_scale_, scale));
  ++contents_;
}

/// A direct solver is its preconditioner, which notices by itself when the matrix has changed:
/// KSPSolve's look at its options costs ten times a small interface's substitution.
bool InputOperator::solve(Vec right_side, Vec unknown) {
  if (direct_ && std::exchange(set_up_, true)) {
    if (!set_up(solver_, matrix_, matrix_)) {
      return false;
    }
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
