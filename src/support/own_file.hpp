#pragma once

#include <unistd.h>

#include <utility>

namespace concord {

/// A file that is closed with its owner; -1: none.
class OwnFile {
 public:
  OwnFile() = default;
  explicit OwnFile(int file) : file_(file) {}
  ~OwnFile() { reset(-1); }
  OwnFile(OwnFile&& other) noexcept : file_(other.release()) {}
  OwnFile& operator=(OwnFile&& other) noexcept {
    reset(other.release());
    return *this;
  }

  explicit operator bool() const { return file_ >= 0; }
  int get() const { return file_; }
  void reset(int file) {
    if (file_ >= 0) close(file_);
    file_ = file;
  }
  /// For who closes it.
  int release() { return std::exchange(file_, -1); }

 private:
  int file_ = -1;
};

}  // namespace concord
