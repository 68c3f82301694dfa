#include "checkpoint/checkpoint_file.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>

#include "concord/errors.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// Before the content. `format` changes with what classes remember in which order.
struct Header {
  std::array<char, 16> magic{'C', 'o', 'n', 'c', 'o', 'r', 'd', ' ',
                             'c', 'h', 'e', 'c', 'k', 'p', 't', '\n'};
  std::uint32_t format = 1;
  std::uint32_t check = 0;
  std::uint64_t size = 0;  ///< bytes of the content
};

/// An open file of the operating system, whose calls throw.
class SystemFile {
 public:
  SystemFile(const fs::path& path, int flags) : file_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    require(file_ >= 0);
  }
  ~SystemFile() {
    if (file_ >= 0) ::close(file_);
  }
  SystemFile(const SystemFile&) = delete;
  SystemFile& operator=(const SystemFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      require(written >= 0);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  void sync() { require(fsync(file_) == 0); }
  void close() { require(::close(std::exchange(file_, -1)) == 0); }

 private:
  static void require(bool done) {
    if (!done) throw std::system_error(errno, std::generic_category());
  }

  int file_;
};

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

fs::path unfinished_name(const fs::path& path) {
  return folder_of(path) / ("." + path.filename().string() + ".new");
}

void write_whole(const fs::path& path, const Header& header, std::span<const std::byte> content) {
  SystemFile file(path, O_WRONLY | O_CREAT | O_TRUNC);
  file.write(std::as_bytes(std::span(&header, 1)));
  file.write(content);
  file.sync();
  file.close();
}

[[noreturn]] void refuse(const fs::path& path, const std::string& what) {
  const fs::path earlier = earlier_checkpoint(path);
  std::error_code error;
  throw InputError("the checkpoint '" + path.string() + "' " + what +
                   (fs::exists(earlier, error)
                        ? "; the one before it is there: -cosim_restart " + earlier.string()
                        : "; start the run anew, without -cosim_restart"));
}

std::vector<std::byte> bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be read");
  std::vector<std::byte> bytes(fs::file_size(path));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace

fs::path earlier_checkpoint(const fs::path& path) { return path.string() + ".old"; }

std::uint32_t check_value(std::span<const std::byte> bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void write_checkpoint(const fs::path& path, CheckpointContent& content) {
  Archive archive;
  archive(content);
  Header header;
  header.size = archive.bytes().size();
  header.check = check_value(archive.bytes());
  const fs::path unfinished = unfinished_name(path);
  try {
    write_whole(unfinished, header, archive.bytes());
    if (fs::exists(path)) fs::rename(path, earlier_checkpoint(path));
    fs::rename(unfinished, path);
    SystemFile(folder_of(path), O_RDONLY).sync();
  } catch (...) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    throw;
  }
}

CheckpointContent read_checkpoint(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) refuse(path, "is not there");
  std::vector<std::byte> bytes = bytes_of(path);
  Header header;
  const Header own;
  const std::size_t known = std::min(bytes.size(), sizeof header);
  std::memcpy(&header, bytes.data(), known);
  if (known < own.magic.size() || header.magic != own.magic) {
    refuse(path, "is no checkpoint of Concord");
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(known));
  if (known < sizeof header || bytes.size() != header.size || check_value(bytes) != header.check) {
    refuse(path, "is cut or damaged (its check value is wrong)");
  }
  if (header.format != own.format) {
    refuse(path, "was written by a version of Concord with another format, " +
                     std::to_string(header.format) + " instead of " + std::to_string(own.format));
  }
  CheckpointContent content;
  Archive archive(std::move(bytes));
  archive(content);
  return content;
}

}  // namespace concord
