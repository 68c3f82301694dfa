#include "cli/session.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "concord/errors.hpp"
#include "support/petsc.hpp"

namespace concord {
namespace {

constexpr int simulation_failed = 1;
constexpr int wrong_input = 2;

int report(const char* message, int code, bool speaks) {
  if (speaks) {
    std::fflush(stdout);
    std::fprintf(stderr, "concord: error: %s\n", message);
  }
  return code;
}

int guarded(const std::function<int()>& work, bool speaks) {
  try {
    return work();
  } catch (const InputError& error) {
    return report(error.what(), wrong_input, speaks);
  } catch (const std::exception& error) {
    return report(error.what(), simulation_failed, speaks);
  } catch (...) {
    return report("an exception that is not a std::exception", simulation_failed, speaks);
  }
}

/// Whether this process is the first, or the only one, that mpirun or srun has started.
bool first_of_launch() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(variable)) {
      return std::string(rank) == "0";
    }
  }
  return true;
}

}  // namespace

int in_session(int argc, char** argv, const std::function<int()>& work) {
  const MpiSession mpi(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return guarded(
      [&] {
        const PetscSession petsc_session(argc, argv);
        return guarded(work, rank == 0);
      },
      rank == 0);
}

int without_session(const std::function<int()>& work) {
  return first_of_launch() ? guarded(work, true) : 0;
}

}  // namespace concord
