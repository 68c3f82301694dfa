/// Writes results for ever, flushes every 10 rows and says so: kill_test.py kills it. Arguments:
/// the bytes of a part, if there are to be parts, and the results file.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "record/results_writer.hpp"
#include "unit/record/example_run.hpp"

int main(int argc, char** argv) {
  using namespace concord;
  MPI_Init(&argc, &argv);
  test::ExampleRun run(MPI_COMM_WORLD, 7);
  run.layout.part_bytes = argc > 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
  run.layout.run = std::to_string(getpid());  // the first rank's counts
  ResultsWriter writer(MPI_COMM_WORLD, argv[argc - 1], run.layout);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::printf("rank %d\n", getpid());
  for (std::size_t row = 0;; ++row) {
    run.append(writer, row);
    if (row % 10 == 9) {
      writer.flush();
      if (rank == 0) std::printf("flushed %zu\n", row + 1);
    }
    std::fflush(stdout);
  }
}
