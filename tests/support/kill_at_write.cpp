/// Preloaded: ends the program with SIGKILL at the change of a file (a write, a cut, another name,
/// a removal) whose number, from 1, is in KILL_AT_WRITE; on several ranks, that rank of it that
/// KILL_RANK names. Writes to the file KILL_LOG where each write ended, and 0 for other changes.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

bool is_meant() {
  const char* meant = std::getenv("KILL_RANK");
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return meant == nullptr || (rank != nullptr && std::strcmp(meant, rank) == 0);
}

void count(long long end) {
  static const bool meant = is_meant();
  if (!meant) return;
  static const char* number = std::getenv("KILL_AT_WRITE");
  static const long last = number != nullptr ? std::atol(number) : 0;
  static std::FILE* log = std::fopen(std::getenv("KILL_LOG"), "w");
  static long changes = 0;
  if (++changes == last) {
    std::fflush(log);
    raise(SIGKILL);
  }
  std::fprintf(log, "%lld\n", end);
}

/// Not of a pipe, a socket or a terminal.
void count_write(int file, long long end) {
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) count(end);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

size_t bytes_of(const iovec* pieces, int number) {
  size_t bytes = 0;
  for (int i = 0; i < number; ++i) bytes += pieces[i].iov_len;
  return bytes;
}

}  // namespace

extern "C" {

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  count_write(file, offset + static_cast<off_t>(size));
  return next<decltype(pwrite)>("pwrite")(file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  count_write(file, offset + static_cast<off64_t>(size));
  return next<decltype(pwrite64)>("pwrite64")(file, bytes, size, offset);
}

ssize_t pwritev(int file, const iovec* pieces, int number, off_t offset) {
  count_write(file, offset + static_cast<off_t>(bytes_of(pieces, number)));
  return next<decltype(pwritev)>("pwritev")(file, pieces, number, offset);
}

ssize_t write(int file, const void* bytes, size_t size) {
  count_write(file, lseek(file, 0, SEEK_CUR) + static_cast<off_t>(size));
  return next<decltype(write)>("write")(file, bytes, size);
}

int ftruncate(int file, off_t size) noexcept {
  count(0);
  return next<int(int, off_t)>("ftruncate")(file, size);
}

int ftruncate64(int file, off64_t size) noexcept {
  count(0);
  return next<int(int, off64_t)>("ftruncate64")(file, size);
}

int rename(const char* from, const char* to) noexcept {
  count(0);
  return next<int(const char*, const char*)>("rename")(from, to);
}

int unlink(const char* path) noexcept {
  count(0);
  return next<int(const char*)>("unlink")(path);
}

int remove(const char* path) noexcept {
  count(0);
  return next<int(const char*)>("remove")(path);
}

int link(const char* from, const char* to) noexcept {
  count(0);
  return next<int(const char*, const char*)>("link")(from, to);
}
}
