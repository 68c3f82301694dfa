/// One `concord run` after the other in this process, or these of mpirun, each as the words say
/// that standard input has: their count, the files for standard output and error, and what is
/// behind `concord run`, each with a zero byte behind it. The exit code of each goes to standard
/// output, in a line.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "concord/errors.hpp"
#include "concord/program.hpp"
#include "concord/simulation.hpp"

namespace {

/// The first rank's, on all of them, which sleep until it has something.
void share(void* data, std::size_t size, MPI_Datatype type) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(data, static_cast<int>(size), type, 0, MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string read_text() {
  std::string word, text;
  if (!std::getline(std::cin, word, '\0')) return {};
  for (std::size_t left = std::stoul(word); left > 0 && std::getline(std::cin, word, '\0'); --left)
    text += word + '\0';
  return text;
}

/// None at the end.
std::vector<std::string> next_words(int rank) {
  std::string text = rank == 0 ? read_text() : "";
  unsigned long size = text.size();
  share(&size, 1, MPI_UNSIGNED_LONG);
  text.resize(size);
  share(text.data(), size, MPI_CHAR);
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, '\0');) words.push_back(word);
  return words;
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
      code = run({words.begin() + 2, words.end()}, rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) std::cout << code << std::endl;
  }
}
