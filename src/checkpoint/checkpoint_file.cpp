#include "checkpoint/checkpoint_file.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <system_error>

#include "concord/errors.hpp"
#include "files/hdf5_io.hpp"
#include "files/whole_file.hpp"
#include "support/hdf5_error.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// Before the content. `format` changes with CheckpointContent; of what is in its memory the
/// classes have versions.
struct Header {
  std::array<char, 16> magic{'C', 'o', 'n', 'c', 'o', 'r', 'd', ' ',
                             'c', 'h', 'e', 'c', 'k', 'p', 't', '\n'};
  std::uint32_t format = 8;
  std::uint32_t check = 0;
  std::uint64_t size = 0;  ///< bytes of the content
};
/// From where on HDF5 looks for a file behind a block of the user's.
constexpr std::size_t content_begins = 512;

void write_whole(const fs::path& path, const Header& header, std::span<const std::byte> content) {
  SystemFile file(path, O_WRONLY | O_CREAT | O_TRUNC);
  std::array<std::byte, content_begins> block{};
  std::memcpy(block.data(), &header, sizeof header);
  file.write(block);
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

void write_content(hid_t file, CheckpointContent& content) {
  write_attribute(file, "concord_version", content.version);
  write_attribute(file, "model_name", content.model);
  write_attribute(file, "changes", content.changes);
  write_attribute(file, "petsc_options", content.options);
  write_attribute(file, "ranks", static_cast<std::int32_t>(content.ranks));
  write_attribute(file, "time", content.time);
  write_attribute(file, "macro_steps", content.steps);
  std::vector<std::string> names;
  for (const SubsystemPrint& subsystem : content.subsystems) names.push_back(subsystem.name);
  write_dataset(file, "/subsystem_names", names);
  Archive archive;
  archive(content);
  write_bytes(file, "/content", archive.bytes());
}

CheckpointContent content_of(hid_t file) {
  CheckpointContent content;
  Archive archive(read_bytes(file, "/content"));
  archive(content);
  return content;
}

Hdf5File checkpoint_in_memory(CheckpointContent& content) {
  Hdf5File file = file_in_memory();
  write_content(file, content);
  write_columns(file, content.memory, content.layouts);
  return file;
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
    const std::size_t block = std::min(bytes_.size(), content_begins);
    const bool empty = std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(known),
                                   bytes_.begin() + static_cast<std::ptrdiff_t>(block),
                                   [](std::byte byte) { return byte == std::byte{0}; });
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(block));
    whole = ours && empty && !bytes_.empty() && bytes_.size() == header.size &&
            check_value(bytes_) == header.check;
  }

  /// Without the memory.
  CheckpointContent content() const { return content_of(file_of_image(bytes_)); }

  CheckpointContent all() const {
    const Hdf5File file = file_of_image(bytes_);
    CheckpointContent content = content_of(file);
    content.memory = read_columns(file, content.layouts);
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

void remove_checkpoints(const fs::path& path) {
  for (const fs::path& one : checkpoints_at(path)) fs::remove(one);
  sync_folder_of(path);
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
  const Hdf5File written = checkpoint_in_memory(content);
  const auto image = image_of(written);
  Header header;
  header.size = image.size();
  header.check = check_value(image);
  const fs::path path = link_target(given);
  const fs::path unfinished = unfinished_name(path);
  try {
    write_whole(unfinished, header, image);
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
  const fs::path folder = link_target(path).parent_path();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    throw InputError("cannot write the checkpoint '" + path.string() +
                     "': " + std::strerror(errno) + "; choose another file with -cosim_checkpoint");
  }
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

namespace {

/// What `read` takes of a whole checkpoint. Throws InputError for what is none.
CheckpointContent read_whole(const fs::path& path, CheckpointContent (Parsed::*read)() const) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) refuse(path, "is not there");
  const Parsed parsed(bytes_of(path));
  if (!parsed.ours) refuse(path, "is no checkpoint of Concord");
  if (parsed.format != Header().format) {
    refuse(path, "was written by a version of Concord with another format, " +
                     std::to_string(parsed.format) + " instead of " +
                     std::to_string(Header().format));
  }
  if (!parsed.whole) refuse(path, "is cut or damaged (its check value is wrong)");
  try {
    return (parsed.*read)();
  } catch (const Hdf5Error& damage) {
    refuse(path, std::string("is damaged: ") + damage.what());
  }
}

}  // namespace

CheckpointContent read_checkpoint(const fs::path& path) { return read_whole(path, &Parsed::all); }

CheckpointContent read_checkpoint_content(const fs::path& path) {
  return read_whole(path, &Parsed::content);
}

}  // namespace concord
