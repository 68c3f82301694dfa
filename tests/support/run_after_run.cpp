/// One `concord run` after the other in this process, or these of mpirun. Standard input says the
/// files for standard output and error, the folder and what is behind `concord run`, see
/// asked_words.hpp; standard output has the exit code of each, in a line.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "concord/errors.hpp"
#include "concord/program.hpp"
#include "concord/simulation.hpp"
#include "support/asked_words.hpp"

namespace {

/// The first rank's, on all of them, which sleep until it has something.
void share(void* data, std::size_t size, MPI_Datatype type) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(data, static_cast<int>(size), type, 0, MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// None at the end.
std::vector<std::string> next_words(int rank) {
  std::string text = rank == 0 ? read_text() : "";
  unsigned long size = text.size();
  share(&size, 1, MPI_UNSIGNED_LONG);
  text.resize(size);
  share(text.data(), size, MPI_CHAR);
  return words_of(text);
}

/// While it lives, what is written to one of the standard streams goes to a file.
class Redirected {
 public:
  Redirected(const std::string& path, std::FILE* stream)
      : stream_(stream), before_(dup(fileno(stream))) {
    const int file = open(path.c_str(), O_WRONLY | O_APPEND);
    dup2(file, fileno(stream));
    close(file);
  }
  ~Redirected() {
    std::fflush(stream_);
    dup2(before_, fileno(stream_));
    close(before_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  std::FILE* stream_;
  int before_;
};

int tell(const char* error, int code, int rank) {
  if (rank == 0) std::fprintf(stderr, "concord: error: %s\n", error);
  return code;
}

int run(const std::vector<std::string>& words, int rank) {
  try {
    return concord::run_inside(words).status == "interrupted" ? 3 : 0;
  } catch (const concord::InputError& error) {
    return tell(error.what(), 2, rank);
  } catch (const concord::SimulationError& error) {
    return tell(error.what(), 1, rank);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const concord::Session session(argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (auto words = next_words(rank); !words.empty(); words = next_words(rank)) {
    int code = 0;
    {
      const Redirected out(words.at(0), stdout), error(words.at(1), stderr);
      std::filesystem::current_path(words.at(2));
      code = run({words.begin() + 3, words.end()}, rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) std::cout << code << std::endl;
  }
}
