#include "coupling/problem/input_operator.hpp"

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
  std::size_t widest = 0;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const std::size_t g = subsystems.global(k);
    auto& columns = columns_.emplace_back();
    for (std::size_t i = network.inputs_of(g).first; i < network.inputs_of(g).last; ++i) {
      for (int part = 0; network.coupled_links()[i] && part < parts_; ++part) {
        columns.push_back(row_of[i] + part);
      }
    }
    widest = std::max(widest, columns.size());
    const IndexRange outputs = network.outputs_of(g);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (!targets[outputs.first + o].empty() && !columns.empty()) {
        sources_.push_back({k, o, std::move(targets[outputs.first + o])});
      }
    }
  }
  row_values_.resize(widest);
  preallocate(subsystems, row_of);
  VecHandle ones;
  petsc(VecDuplicate(inverse_scale_, ones.out()));
  petsc(VecSet(ones, 1.0));
  assemble(layout, ones, ones);
  solver_ = linear_solver(matrix_, diagonal_of(subsystems), options);
  direct_ = is_plainly_direct(solver_, options);
}

void InputOperator::preallocate(const RankNetwork& subsystems,
                                const std::vector<PetscInt>& row_of) {
  const Network& network = subsystems.network();
  const Partition& partition = subsystems.partition();
  std::vector<PetscInt> diagonal(static_cast<std::size_t>(own_rows_), 1);
  std::vector<PetscInt> off_diagonal(static_cast<std::size_t>(own_rows_), 0);
  const int rank = rank_in(subsystems.comm());
  std::size_t own = 0;
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    const auto& link = network.coupled_links()[i];
    if (!link || partition.rank_of(network.subsystem_of_input(i)) != rank) {
      continue;
    }
    const std::size_t source = network.subsystem_of_output(link->output);
    PetscInt width = 0;
    for (std::size_t j = network.inputs_of(source).first; j < network.inputs_of(source).last; ++j) {
      width += network.coupled_links()[j] ? parts_ : 0;
    }
    auto& counts = partition.rank_of(source) == rank ? diagonal : off_diagonal;
    for (int part = 0; part < parts_; ++part) {
      counts[own * parts_ + part] += width;
    }
    if (own == 0) {
      first_row_ = row_of[i];
    }
    ++own;
  }
  petsc(MatCreateAIJ(subsystems.comm(), own_rows_, own_rows_, PETSC_DETERMINE, PETSC_DETERMINE, 0,
                     diagonal.data(), 0, off_diagonal.data(), matrix_.out()));
  petsc(MatSetOption(matrix_, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  petsc(MatCreateVecs(matrix_, inverse_scale_.out(), nullptr));
}

void InputOperator::assemble(const SubsystemGains& gains, Vec residual_scale, Vec scale) {
  petsc(MatZeroEntries(matrix_));
  for (PetscInt row = first_row_; row < first_row_ + own_rows_; ++row) {
    petsc(MatSetValue(matrix_, row, row, 1.0, ADD_VALUES));
  }
  for (const auto& source : sources_) {
    const auto& columns = columns_[source.subsystem];
    for (int part = 0; part < parts_; ++part) {
      for (const auto& target : source.targets) {
        for (std::size_t c = 0; c < columns.size(); ++c) {
          row_values_[c] =
              -target.factor * gains.at(source.subsystem, source.output * parts_ + part, c);
        }
        const PetscInt row = target.row + part;
        petsc(MatSetValues(matrix_, 1, &row, static_cast<PetscInt>(columns.size()), columns.data(),
                           row_values_.data(), ADD_VALUES));
      }
    }
  }
  petsc(MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY));
  petsc(MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY));
  petsc(VecCopy(residual_scale, inverse_scale_));
  petsc(VecReciprocal(inverse_scale_));
  petsc(MatDiagonalScale(matrix_, inverse_scale_, scale));
  ++contents_;
}

/// A direct solver is its preconditioner, which notices by itself when the matrix has changed:
/// KSPSolve's look at its options costs ten times a small interface's substitution.
bool InputOperator::solve(Vec right_side, Vec unknown) {
  if (direct_ && std::exchange(set_up_, true)) {
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
  make_viewable(solver_);
  petsc(KSPView(solver_, PETSC_VIEWER_STDOUT_(comm)));
}

}  // namespace concord
