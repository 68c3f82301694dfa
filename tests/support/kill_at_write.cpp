/// Preloaded: ends the program with SIGKILL at the write to a file whose number, from 1, is in
/// KILL_AT_WRITE; writes to the file KILL_LOG the end of each write before.
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

ssize_t counted(const char* name, int file, const void* bytes, size_t size, off64_t offset) {
  using Write = ssize_t (*)(int, const void*, size_t, off64_t);
  static const char* number = std::getenv("KILL_AT_WRITE");
  static const long last = number != nullptr ? std::atol(number) : 0;
  static std::FILE* log = std::fopen(std::getenv("KILL_LOG"), "w");
  static long count = 0;
  if (++count == last) {
    std::fflush(log);
    raise(SIGKILL);
  }
  std::fprintf(log, "%lld\n", static_cast<long long>(offset) + static_cast<long long>(size));
  return reinterpret_cast<Write>(dlsym(RTLD_NEXT, name))(file, bytes, size, offset);
}

}  // namespace

extern "C" ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  return counted("pwrite", file, bytes, size, offset);
}

extern "C" ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  return counted("pwrite64", file, bytes, size, offset);
}
