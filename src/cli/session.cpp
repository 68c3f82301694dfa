#include "cli/session.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "concord/errors.hpp"
#include "settings/settings.hpp"
#include "support/agreement.hpp"
#include "support/end_of_all.hpp"
#include "support/exception_words.hpp"
#include "support/foreign_call.hpp"
#include "support/petsc.hpp"

namespace concord {
namespace {

constexpr int simulation_failed = 1;
constexpr int wrong_input = 2;

/// Texts of libraries and FMUs may have several.
std::string on_one_line(std::string message) {
  while (message.ends_with('\n')) {
    message.pop_back();
  }
  std::replace_if(
      message.begin(), message.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return message;
}

int report(const std::string& message, int code, bool speaks) {
  if (speaks) {
    std::fflush(stdout);
    std::fprintf(stderr, "concord: error: %s\n", on_one_line(message).c_str());
  }
  foreign_end_is_told();
  return code;
}

int guarded(const std::function<int()>& work, bool speaks) {
  try {
    return work();
  } catch (const InputError& error) {
    return report(error.what(), wrong_input, speaks);
  } catch (...) {
    return report(in_words(std::current_exception()), simulation_failed, speaks);
  }
}

/// A standard stream that is closed would give its number to the next file that opens.
void open_missing_streams() {
  int file = 0;
  do {
    file = open("/dev/null", O_RDWR);
  } while (file >= 0 && file <= STDERR_FILENO);
  if (file >= 0) {
    close(file);
  }
}

/// What was printed may not have got anywhere (a full disk).
int with_output_written(int code, bool speaks) {
  const bool flushed = std::fflush(stdout) == 0;
  const std::string reason = flushed ? "an earlier error" : std::strerror(errno);
  if (code != 0 || (flushed && std::ferror(stdout) == 0)) {
    return code;
  }
  return report("cannot write to standard output: " + reason, simulation_failed, speaks);
}

/// What was thrown where no exception may leave: a destructor of a library has found no memory.
[[noreturn]] void end_by_exception() {
  const auto thrown = std::current_exception();
  const std::string message = thrown ? in_words(thrown) : "std::terminate was called";
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started != 0 && ended == 0) end_all(MPI_COMM_WORLD, message, simulation_failed);
  _exit(report(message, simulation_failed, true));
}

/// Whoever has crashed in this process may crash again where its library is taken down.
int leave_session(int code) {
  if (foreign_code_has_ended()) {
    std::fflush(nullptr);
    _exit(code);
  }
  return code;
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

/// To the end: what it has lost after a failure of the system, it complains of when it is closed.
void keep_hdf5_quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

}  // namespace

int in_session(int argc, char** argv, const std::function<int()>& work) {
  std::set_terminate(end_by_exception);
  open_missing_streams();
  int rank = 0;
  const auto with_petsc = [&] {
    PetscSession petsc_session(argc, argv, MPI_COMM_WORLD);
    const auto watched = [&] {
      const HangWatch hang_watch(read_hang_limit());
      return work();
    };
    const int own = with_output_written(guarded(watched, rank == 0), rank == 0);
    const int code = agree_on_largest(MPI_COMM_WORLD, own);
    if (code == 0) {
      petsc_session.finish();
    }
    return code;
  };
  int code = 0;
  {
    const MpiSession mpi(&argc, &argv);
    keep_hdf5_quiet();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    code = with_output_written(guarded(with_petsc, rank == 0), rank == 0);
  }
  return leave_session(code);
}

void inside_session(const std::vector<std::string>& words, const std::function<void()>& work) {
  int mpi = 0;
  MPI_Initialized(&mpi);
  if (mpi == 0 || PetscInitializeCalled == PETSC_FALSE) {
    throw InputError("MPI or PETSc is not initialised; make a concord::Session before");
  }
  try {
    OptionsHandle database;
    together(PETSC_COMM_WORLD, [&] { database = options_of(words); });
    const PetscScope scope(database);
    const HangWatch hang_watch(read_hang_limit());
    work();
  } catch (const InputError&) {
    throw;
  } catch (const SimulationError&) {
    throw;
  } catch (...) {
    throw SimulationError(in_words(std::current_exception()));
  }
}

int without_session(const std::function<int()>& work) {
  std::set_terminate(end_by_exception);
  keep_hdf5_quiet();
  open_missing_streams();
  return first_of_launch() ? with_output_written(guarded(work, true), true) : 0;
}

}  // namespace concord
