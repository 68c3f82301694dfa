#include "files/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "concord/errors.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

void require(bool done) {
  if (!done) throw std::system_error(errno, std::generic_category());
}

}  // namespace

int close_once(int file) { return ::close(file) == 0 || errno == EINTR ? 0 : -1; }

SystemFile::SystemFile(const fs::path& path, int flags)
    : file_(uninterrupted([&] { return open(path.c_str(), flags | O_CLOEXEC, 0666); })) {
  require(file_ >= 0);
}

SystemFile::~SystemFile() {
  if (file_ >= 0) ::close(file_);
}

void SystemFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        uninterrupted([&] { return ::write(file_, bytes.data(), bytes.size()); });
    require(written >= 0);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void SystemFile::sync() {
  require(uninterrupted([&] { return fsync(file_); }) == 0);
}

void SystemFile::close() { require(close_once(std::exchange(file_, -1)) == 0); }

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  SystemFile file(path, O_WRONLY | O_CREAT | O_TRUNC);
  file.write(bytes);
  file.close();
}

void sync_folder_of(const fs::path& path) {
  SystemFile(path.has_parent_path() ? path.parent_path() : fs::path("."), O_RDONLY).sync();
}

fs::path unfinished_name(const fs::path& path) {
  return path.parent_path() / ("." + path.filename().string() + ".new");
}

void replace_file(const fs::path& path, std::span<const std::byte> bytes) {
  const fs::path target = link_target(path), unfinished = unfinished_name(target);
  try {
    write_file(unfinished, bytes);
    fs::rename(unfinished, target);
  } catch (...) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    throw;
  }
}

fs::path link_target(fs::path path) {
  constexpr int most_links = 40;
  std::error_code error;
  if (!path.has_filename()) path = path.parent_path();
  for (int i = 0; i < most_links && fs::is_symlink(path, error); ++i) {
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) return path;
  const fs::path target = fs::canonical(folder, error) / path.filename();
  return error ? path : target;
}

}  // namespace concord
