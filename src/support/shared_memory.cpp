#include "support/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "concord/errors.hpp"

namespace concord {
namespace {

[[noreturn]] void fail(const char* what) {
  throw SimulationError(std::string("memory that is shared with another process: ") + what + ": " +
                        std::strerror(errno));
}

std::size_t size_of(int file) {
  struct stat status = {};
  if (fstat(file, &status) != 0) fail("fstat");
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

SharedMemory::SharedMemory(std::size_t size)
    : file_(memfd_create("concord_subsystem", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (file_ < 0) fail("memfd_create");
  if (fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK) != 0) fail("F_ADD_SEALS");
  grow(size);
}

SharedMemory SharedMemory::of_file(int file) {
  SharedMemory memory(Taken{file});
  const int seals = fcntl(file, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    throw SimulationError("memory of another process that might be taken away (F_SEAL_SHRINK)");
  memory.map(size_of(file));
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      size_(std::exchange(other.size_, 0)),
      begin_(std::exchange(other.begin_, nullptr)) {}

SharedMemory::~SharedMemory() {
  if (begin_ != nullptr) munmap(begin_, size_);
  if (file_ >= 0) close(file_);
}

void SharedMemory::map(std::size_t size) {
  void* const place = begin_ == nullptr
                          ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0)
                          : mremap(begin_, size_, size, MREMAP_MAYMOVE);
  if (place == MAP_FAILED) fail("mmap");
  begin_ = static_cast<std::byte*>(place);
  size_ = size;
}

void SharedMemory::grow(std::size_t size) {
  if (size <= size_) return;
  const std::size_t wanted = std::max(size, 2 * size_);
  if (ftruncate(file_, static_cast<off_t>(std::max(wanted, size_of(file_)))) != 0)
    fail("ftruncate");
  map(size_of(file_));
}

void SharedMemory::follow(std::size_t size) {
  if (size <= size_) return;
  if (size_of(file_) < size) throw SimulationError("a message from another process is damaged");
  map(size_of(file_));
}

}  // namespace concord
