// Two ranks: what becomes of a failure on one of them, or on both, where they communicate.
// Argument: last (the last rank fails while the others wait for it), all, none.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "concord/errors.hpp"
#include "support/agreement.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string who = argv[1];
  int rank = 0, size = 1, code = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try {
    concord::collectively(MPI_COMM_WORLD, [&] {
      if (who == "all" || (who == "last" && rank == size - 1)) {
        throw std::runtime_error("rank " + std::to_string(rank) + " has failed");
      }
      MPI_Barrier(MPI_COMM_WORLD);
    });
  } catch (const concord::SimulationError& error) {
    if (rank == 0) std::fprintf(stderr, "agreed: %s\n", error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
