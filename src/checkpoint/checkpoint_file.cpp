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
#include "files/whole_file.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// Before the content. `format` changes with CheckpointContent; of what is in its memory the
/// classes have versions.
struct Header {
  std::array<char, 16> magic{'C', 'o', 'n', 'c', 'o', 'r', 'd', ' ',
                             'c', 'h', 'e', 'c', 'k', 'p', 't', '\n'};
  std::uint32_t format = 6;
  std::uint32_t check = 0;
  std::uint64_t size = 0;  ///< bytes of the content
};

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
                        : "; start without it"));
}

/// A file's bytes, as far as they are a checkpoint.
class Parsed {
 public:
  explicit Parsed(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {
    Header header;
    const std::size_t known = std::min(bytes_.size(), sizeof header);
    std::copy_n(bytes_.data(), known, reinterpret_cast<std::byte*>(&header));
    ours = known >= header.magic.size() && header.magic == Header().magic;
    format = header.format;
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(known));
    whole = ours && known == sizeof header && bytes_.size() == header.size &&
            check_value(bytes_) == header.check;
  }

  CheckpointContent content() const {
    CheckpointContent content;
    Archive archive(bytes_);
    archive(content);
    return content;
  }

  bool ours = false, whole = false;
  std::uint32_t format = 0;

 private:
  std::vector<std::byte> bytes_;
};

std::vector<std::byte> bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be read");
  std::vector<std::byte> bytes(fs::file_size(path));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace

fs::path earlier_checkpoint(const fs::path& path, int n) {
  return path.string() + (n == 1 ? ".old" : ".old" + std::to_string(n));
}

std::vector<fs::path> checkpoints_at(const fs::path& path) {
  std::vector<fs::path> found;
  std::error_code error;
  for (int n = 0; n < most_checkpoints; ++n) {
    const fs::path one = n == 0 ? path : earlier_checkpoint(path, n);
    if (fs::exists(one, error)) found.push_back(one);
  }
  return found;
}

std::uint32_t check_value(std::span<const std::byte> bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

namespace {

/// Makes room under the name `path`: each takes the place of the one before it, up to the first
/// that is missing.
void move_on(const fs::path& path, int kept) {
  int last = 1;
  while (last < kept - 1 && fs::exists(earlier_checkpoint(path, last))) ++last;
  for (int n = last; n > 1; --n)
    fs::rename(earlier_checkpoint(path, n - 1), earlier_checkpoint(path, n));
  if (kept > 1) fs::rename(path, earlier_checkpoint(path));
}

}  // namespace

void write_checkpoint(const fs::path& given, CheckpointContent& content, int kept) {
  Archive archive;
  archive(content);
  Header header;
  header.size = archive.bytes().size();
  header.check = check_value(archive.bytes());
  const fs::path path = link_target(given);
  const fs::path unfinished = unfinished_name(path);
  try {
    write_whole(unfinished, header, archive.bytes());
    if (fs::exists(path)) move_on(path, kept);
    fs::rename(unfinished, path);
    sync_folder_of(path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    throw;
  }
}

void require_replaceable_checkpoint(const fs::path& path, const std::string& model_name) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return;
  }
  const auto keep = [&](const std::string& what) {
    throw InputError("'" + path.string() + "' " + what +
                     "; it was left untouched: choose another file with -cosim_checkpoint, or move "
                     "it away");
  };
  if (!fs::is_regular_file(path, error)) {
    keep("is no regular file");
  }
  const Parsed found(bytes_of(path));
  if (!found.ours) {
    keep("exists and is no checkpoint of Concord");
  }
  if (found.whole && found.format == Header().format && found.content().model != model_name) {
    keep("is a checkpoint of another model, '" + found.content().model + "', not of '" +
         model_name + "'");
  }
}

CheckpointContent read_checkpoint(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) refuse(path, "is not there");
  const Parsed parsed(bytes_of(path));
  if (!parsed.ours) refuse(path, "is no checkpoint of Concord");
  if (!parsed.whole) refuse(path, "is cut or damaged (its check value is wrong)");
  if (parsed.format != Header().format) {
    refuse(path, "was written by a version of Concord with another format, " +
                     std::to_string(parsed.format) + " instead of " +
                     std::to_string(Header().format));
  }
  return parsed.content();
}

}  // namespace concord
