// What the subsystems of the fault tests can do wrong.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace faults {

/// Which of the processes that a launcher has started this is; 0 without one.
inline int own_rank() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return rank == nullptr ? 0 : std::atoi(rank);
}

/// Until the stack is full, long before `depth` is 0.
inline int deeper(int depth) {
  volatile char here[4096];
  here[0] = static_cast<char>(depth);
  return depth == 0 ? here[0] : deeper(depth - 1) + here[0];
}

/// The fault happens once for each byte of the file $FAULT_TIMES; always without that.
inline bool is_over() {
  const char* path = std::getenv("FAULT_TIMES");
  if (path == nullptr) return false;
  struct stat file = {};
  return stat(path, &file) != 0 || file.st_size == 0 || truncate(path, file.st_size - 1) != 0;
}

/// Does what `fault` names; what it doesn't know is for the caller (nan, fatal).
inline void commit(const std::string& fault) {
  volatile int zero = 0;
  volatile std::uintptr_t nowhere = 8;
  if (fault == "none" || is_over()) return;
  if (fault == "throw") throw std::out_of_range("no entry 17 in the table");
  if (fault == "throw_number") throw 42;
  if (fault == "exit") std::exit(0);
  if (fault == "quick_exit") std::quick_exit(0);
  if (fault == "abort") std::abort();
  if (fault == "segfault") *reinterpret_cast<volatile int*>(nowhere) = 1;
  if (fault == "fpe") {
    zero = 1 / zero;
    std::raise(SIGFPE);  // where a division by zero does not trap
  }
  while (fault == "hang") pause();
  if (fault == "crawl") usleep(200'000);
  if (fault == "stack_overflow") deeper(1 << 30);
  if (fault == "_exit") _exit(3);
  if (fault == "kill") std::raise(SIGKILL);
}

}  // namespace faults
