#pragma once

#include <cstddef>

namespace concord {

/// Memory that two processes share, in a file without a name: nothing is left of it when both have
/// ended. It grows, and never becomes smaller, whatever the other process does to it.
class SharedMemory {
 public:
  /// New memory of so many bytes, all 0. Throws SimulationError.
  explicit SharedMemory(std::size_t size);
  /// That of the other process. Throws SimulationError.
  static SharedMemory of_file(int file);
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;

  int file() const { return file_; }
  std::size_t size() const { return size_; }
  std::byte* begin() const { return begin_; }

  /// At least so many bytes, for both; what was got from `begin` is gone.
  void grow(std::size_t size);
  /// What the other process has made of it, after which the first `size` bytes are there. Throws
  /// SimulationError where they are not.
  void follow(std::size_t size);

 private:
  struct Taken {
    int file;
  };
  explicit SharedMemory(Taken taken) : file_(taken.file) {}
  void map(std::size_t size);

  int file_ = -1;
  std::size_t size_ = 0;
  std::byte* begin_ = nullptr;
};

}  // namespace concord
