#include "files/archive_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "concord/errors.hpp"
#include "files/replaceable.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;

constexpr time_t date_of_entries = 315'619'200;  // 2 January 1980; ZIP knows no earlier year

[[noreturn]] void refuse_to_write(const fs::path& path, const std::string& reason) {
  throw InputError("cannot write '" + path.string() + "': " + reason +
                   "; choose a place that exists, has room and may be written to");
}

void require_place(const fs::path& path, FileContent written) {
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (fs::is_directory(path, error)) refuse_to_write(path, "this is a folder");
  if (fs::exists(path, error) && !fs::is_regular_file(path, error))
    refuse_to_write(path, "this is not a regular file");
  if (!fs::is_directory(folder, error))
    refuse_to_write(path, "there is no folder " + folder.string());
  if (access(folder.c_str(), W_OK) != 0) refuse_to_write(path, std::strerror(errno));
  require_replaceable(path, written);
}

/// A file beside `path`, which is removed unless it takes its place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& path)
      : path_(path), name_(path.string() + ".XXXXXX"), file_(mkstemp(name_.data())) {
    if (file_ < 0) refuse_to_write(path_, std::strerror(errno));
  }
  ~TemporaryFile() {
    if (file_ >= 0) ::close(file_);
    if (!name_.empty()) unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(const std::string& content) {
    for (std::size_t done = 0; done < content.size();) {
      const ssize_t count = ::write(file_, content.data() + done, content.size() - done);
      if (count <= 0) refuse_to_write(path_, std::strerror(errno));
      done += static_cast<std::size_t>(count);
    }
  }
  void take_place() {
    const mode_t mask = umask(0);
    umask(mask);
    const bool good = fchmod(file_, 0666 & ~mask) == 0 && fsync(file_) == 0 &&
                      std::rename(name_.c_str(), path_.c_str()) == 0;
    if (!good) refuse_to_write(path_, std::strerror(errno));
    name_.clear();
  }

 private:
  fs::path path_;
  std::string name_;
  int file_;
};

}  // namespace

ArchiveWriter::ArchiveWriter(fs::path path) : path_(std::move(path)) {
  require_place(path_, FileContent::archive);
  int code = 0;
  archive_ = zip_open(path_.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (archive_ == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    fail(reason);
  }
}

ArchiveWriter::~ArchiveWriter() {
  if (archive_ != nullptr) zip_discard(archive_);
}

void ArchiveWriter::fail(const std::string& reason) const { refuse_to_write(path_, reason); }

void ArchiveWriter::add(const std::string& name, std::string content) {
  contents_.push_back(std::make_unique<std::string>(std::move(content)));
  const std::string& kept = *contents_.back();
  place(name, zip_source_buffer(archive_, kept.data(), kept.size(), 0), true);
}

void ArchiveWriter::add_file(const std::string& name, const fs::path& file) {
  place(name, zip_source_file(archive_, file.c_str(), 0, -1), false);
}

void ArchiveWriter::place(const std::string& name, void* source, bool compressed) {
  auto* const from = static_cast<zip_source_t*>(source);
  const zip_int64_t index = from == nullptr ? -1 : zip_file_add(archive_, name.c_str(), from, 0);
  if (index < 0) {
    const std::string reason = zip_strerror(archive_);
    if (from != nullptr) zip_source_free(from);
    fail(name + ": " + reason);
  }
  const auto entry = static_cast<zip_uint64_t>(index);
  zip_file_set_mtime(archive_, entry, date_of_entries, 0);
  constexpr zip_uint32_t effort = 3;  // of 9, for a fifth of the time and few bytes more
  zip_set_file_compression(archive_, entry, compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, effort);
}

void ArchiveWriter::close() {
  if (zip_close(archive_) != 0) fail(zip_strerror(archive_));
  archive_ = nullptr;
}

void write_whole_file(const fs::path& path, const std::string& content) {
  require_place(path, FileContent::model);
  TemporaryFile file(path);
  file.write(content);
  file.take_place();
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

}  // namespace concord
