#include "network/placement/graph_pieces.hpp"

#include <petscmat.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "network/schedule/signal_neighbours.hpp"
#include "support/petsc.hpp"

// Scotch's, which PETSc brings along where it has it.
extern "C" {
__attribute__((weak)) int SCOTCH_numSizeof(void);
__attribute__((weak)) void SCOTCH_randomSeed(PetscInt seed);
}

namespace concord {
namespace {

using PartitioningHandle = PetscHandle<MatPartitioning, MatPartitioningDestroy>;
using IsHandle = PetscHandle<IS, ISDestroy>;

#ifdef PETSC_HAVE_PTSCOTCH
constexpr const char* partitioner = MATPARTITIONINGPTSCOTCH;
#else
constexpr const char* partitioner = nullptr;
#endif

/// Debian's PETSc of 64-bit indices is linked with a Scotch of 32-bit ones, which would misread the
/// graph.
bool scotch_fits() {
  return SCOTCH_numSizeof == nullptr || SCOTCH_numSizeof() == static_cast<int>(sizeof(PetscInt));
}

/// Of the mean effort: so many units of an integer weight.
constexpr double units_of_mean = 100.0;

/// Scotch draws random numbers, and its threads race.
void make_repeatable() {
  constexpr int keep = 0;
  setenv("SCOTCH_PTHREAD_NUMBER", "1", keep);
  if (SCOTCH_randomSeed != nullptr) SCOTCH_randomSeed(1);
}

/// PETSc frees it.
PetscInt* petsc_array(const std::vector<PetscInt>& values) {
  PetscInt* result = nullptr;
  petsc(PetscMalloc1(values.size() + 1, &result));
  std::copy(values.begin(), values.end(), result);
  return result;
}

/// Each neighbour once, with the signals in both directions.
MatHandle graph_of(const ScheduleProblem& problem) {
  const SignalNeighbours neighbours(problem);
  std::vector<PetscInt> first{0}, who, signals;
  for (std::size_t k = 0; k < problem.size(); ++k) {
    const auto near = neighbours.of(k);
    std::vector<std::size_t> order(near.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return near[a] < near[b]; });
    for (const std::size_t i : order) {
      const auto other = static_cast<PetscInt>(near[i]);
      const auto count =
          static_cast<PetscInt>(neighbours.received_by(k)[i] + neighbours.given_by(k)[i]);
      if (static_cast<PetscInt>(who.size()) > first.back() && who.back() == other) {
        signals.back() += count;
      } else {
        who.push_back(other);
        signals.push_back(count);
      }
    }
    first.push_back(static_cast<PetscInt>(who.size()));
  }
  const auto n = static_cast<PetscInt>(problem.size());
  MatHandle graph;
  petsc(MatCreateMPIAdj(PETSC_COMM_SELF, n, n, petsc_array(first), petsc_array(who),
                        petsc_array(signals), graph.out()));
  return graph;
}

std::vector<PetscInt> weights_of(const std::vector<double>& effort) {
  const double mean =
      std::accumulate(effort.begin(), effort.end(), 0.0) / static_cast<double>(effort.size());
  std::vector<PetscInt> weights;
  for (const double one : effort) {
    weights.push_back(static_cast<PetscInt>(std::max(1.0, std::round(units_of_mean * one / mean))));
  }
  return weights;
}

}  // namespace

std::optional<std::vector<int>> pieces_of_graph(const ScheduleProblem& problem, int pieces) {
  if (partitioner == nullptr || !scotch_fits()) return std::nullopt;
  make_repeatable();
  const MatHandle graph = graph_of(problem);
  PartitioningHandle partitioning;
  petsc(MatPartitioningCreate(PETSC_COMM_SELF, partitioning.out()));
  petsc(MatPartitioningSetAdjacency(partitioning, graph));
  petsc(MatPartitioningSetNParts(partitioning, pieces));
  petsc(MatPartitioningSetVertexWeights(partitioning, petsc_array(weights_of(problem.effort))));
  petsc(MatPartitioningSetUseEdgeWeights(partitioning, PETSC_TRUE));
  petsc(MatPartitioningSetType(partitioning, partitioner));
  petsc(MatPartitioningSetFromOptions(partitioning));
  IsHandle found;
  petsc(MatPartitioningApply(partitioning, found.out()));
  const PetscInt* piece = nullptr;
  petsc(ISGetIndices(found, &piece));
  std::vector<int> result(piece, piece + problem.size());
  petsc(ISRestoreIndices(found, &piece));
  return result;
}

}  // namespace concord
