#pragma once

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>

namespace concord {

// For files that others only ever see whole: made under another name beside their own, then
// renamed.

/// The result of a system call that is made again where a signal has come in between.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// 0, or -1 and errno. What a signal comes to is closed (Linux).
int close_once(int file);

/// An open file of the operating system. What fails is a std::system_error, in its words.
class SystemFile {
 public:
  /// `flags`: as of open(2).
  SystemFile(const std::filesystem::path& path, int flags);
  ~SystemFile();
  SystemFile(const SystemFile&) = delete;
  SystemFile& operator=(const SystemFile&) = delete;
  operator int() const { return file_; }  // NOLINT: stands for its descriptor

  void write(std::span<const std::byte> bytes);
  /// On the disk, whatever becomes of the machine.
  void sync();
  void close();

 private:
  int file_;
};

/// A file of these bytes. Throws std::system_error, also where only closing tells that they are not
/// in it.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// The names in it, too.
void sync_folder_of(const std::filesystem::path& path);

/// A hidden neighbour of `path`.
std::filesystem::path unfinished_name(const std::filesystem::path& path);

/// These bytes in place of what is there, if anything; a std::system_error or filesystem_error
/// leaves that as it was.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Where symbolic links lead, also to what is not there yet: a link is not replaced by a file.
std::filesystem::path link_target(std::filesystem::path path);

}  // namespace concord
