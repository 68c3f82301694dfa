#include "files/archive.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "concord/errors.hpp"
#include "files/scratch_folder.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;

constexpr zip_int64_t most_entries = 100'000;
constexpr zip_uint64_t most_bytes = 8'000'000'000, harmless_bytes = 100'000'000;
constexpr zip_uint64_t largest_growth = 200;
constexpr std::size_t longest_name = 1024;

struct ZipCloser {
  void operator()(zip_t* zip) const { zip_discard(zip); }
};
struct EntryCloser {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Zip = std::unique_ptr<zip_t, ZipCloser>;
using OpenEntry = std::unique_ptr<zip_file_t, EntryCloser>;

struct Entry {
  zip_uint64_t index = 0;
  std::string name;
  zip_uint64_t size = 0;
  bool is_folder = false;
  zip_uint32_t checksum = 0;
};

[[noreturn]] void refuse(const fs::path& archive, const std::string& problem) {
  throw InputError(archive.string() + ": " + problem);
}

Zip open_archive(const fs::path& path) {
  int code = 0;
  Zip zip(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!zip) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    refuse(path, "cannot be opened as a ZIP archive: " + reason);
  }
  return zip;
}

/// What is wrong with an entry's name, or nothing.
const char* problem_of_name(const std::string& name) {
  if (name.empty() || name.size() > longest_name) return "has an empty or endless name";
  if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20; }))
    return "has control characters in its name";
  if (name.find('\\') != std::string::npos) return "has a backslash in its name";
  if (name.front() == '/' || (name.size() > 1 && name[1] == ':')) return "has an absolute path";
  for (const fs::path& part : fs::path(name)) {
    if (part == "..") return "climbs out of the archive by '..'";
  }
  return nullptr;
}

bool is_special_file(zip_t* zip, zip_uint64_t index) {
  zip_uint8_t system = 0;
  zip_uint32_t attributes = 0;
  if (zip_file_get_external_attributes(zip, index, 0, &system, &attributes) != 0) return false;
  const zip_uint32_t kind = (attributes >> 16) & S_IFMT;
  return system == ZIP_OPSYS_UNIX && kind != 0 && kind != S_IFREG && kind != S_IFDIR;
}

Entry inspect(zip_t* zip, zip_uint64_t index, const fs::path& archive) {
  constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_CRC;
  zip_stat_t status;
  const char* name = zip_get_name(zip, index, ZIP_FL_ENC_GUESS);
  if (name == nullptr || zip_stat_index(zip, index, 0, &status) != 0 ||
      (status.valid & needed) != needed)
    refuse(archive, "its directory is damaged at entry " + std::to_string(index));
  const Entry entry{index, name, status.size, std::string_view(name).ends_with('/'), status.crc};
  const std::string place = "the entry " + in_quotes(entry.name) + " ";
  if (const char* problem = problem_of_name(entry.name))
    refuse(archive, place + problem + "; the archive is refused");
  if (is_special_file(zip, index))
    refuse(archive, place + "is a symbolic link or a special file; the archive is refused");
  if (status.encryption_method != ZIP_EM_NONE)
    refuse(archive, place + "is encrypted, which is not supported");
  return entry;
}

void check_amount(const std::vector<Entry>& entries, const fs::path& archive) {
  zip_uint64_t total = 0;
  for (const Entry& entry : entries) {
    total += std::min(entry.size, most_bytes + 1);
    if (total > most_bytes) refuse(archive, "unpacks to more than 8 GB; the archive is refused");
  }
  if (total > harmless_bytes && total / largest_growth > fs::file_size(archive))
    refuse(archive, "unpacks to more than " + std::to_string(largest_growth) +
                        " times its size; the archive is refused");
}

std::string place_of(const Entry& entry) {
  return fs::path(entry.name).lexically_normal().string();
}

/// A file that is also a folder.
void check_folders(const std::vector<Entry>& entries, const fs::path& archive) {
  std::set<std::string> files, folders;
  for (const Entry& entry : entries) {
    const std::string name = place_of(entry);
    if (!entry.is_folder) files.insert(name);
    for (fs::path parent = fs::path(name).parent_path(); !parent.empty();
         parent = parent.parent_path()) {
      if (!folders.insert(parent.string()).second) break;
    }
  }
  for (const std::string& folder : folders) {
    if (files.contains(folder))
      refuse(archive, "the entry " + in_quotes(folder) + " is a file and a folder");
  }
}

/// Each file once: what is there again must be the same, by size and checksum.
std::vector<Entry> without_repetitions(const std::vector<Entry>& entries, const fs::path& archive,
                                       std::set<std::string>& repeated) {
  std::map<std::string, const Entry*> files;
  std::vector<Entry> result;
  for (const Entry& entry : entries) {
    const auto [known, is_new] = files.emplace(place_of(entry), &entry);
    if (entry.is_folder || is_new) {
      result.push_back(entry);
      continue;
    }
    if (known->second->size != entry.size || known->second->checksum != entry.checksum)
      refuse(archive, "the entry " + in_quotes(entry.name) +
                          " is there twice with different contents; remove the wrong one");
    repeated.insert(entry.name);
  }
  return result;
}

struct Contents {
  std::vector<Entry> entries;
  std::set<std::string> repeated;  ///< names that are there more than once
};

Contents contents_of(zip_t* zip, const fs::path& archive) {
  const zip_int64_t count = zip_get_num_entries(zip, 0);
  if (count > most_entries)
    refuse(archive, "holds " + std::to_string(count) + " files; the archive is refused");
  Contents contents;
  for (zip_int64_t i = 0; i < count; ++i)
    contents.entries.push_back(inspect(zip, static_cast<zip_uint64_t>(i), archive));
  check_amount(contents.entries, archive);
  check_folders(contents.entries, archive);
  contents.entries = without_repetitions(contents.entries, archive, contents.repeated);
  return contents;
}

class OutputFile {
 public:
  explicit OutputFile(const fs::path& path)
      : file_(open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0700)) {}
  ~OutputFile() {
    if (file_ >= 0) close(file_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool append(const char* bytes, std::size_t count) {
    while (file_ >= 0 && count > 0) {
      const ssize_t written = write(file_, bytes, count);
      if (written <= 0) return false;
      bytes += written;
      count -= static_cast<std::size_t>(written);
    }
    return file_ >= 0;
  }
  bool is_open() const { return file_ >= 0; }

 private:
  int file_;
};

void extract(zip_t* zip, const Entry& entry, const fs::path& archive, const fs::path& target) {
  const fs::path path = target / fs::path(entry.name).relative_path();
  fs::create_directories(entry.is_folder ? path : path.parent_path());
  if (entry.is_folder) return;
  const OpenEntry source(zip_fopen_index(zip, entry.index, 0));
  if (!source) refuse(archive, "the entry " + in_quotes(entry.name) + ": " + zip_strerror(zip));
  OutputFile file(path);
  if (!file.is_open()) refuse(path, std::strerror(errno));
  std::vector<char> buffer(1 << 16);
  zip_uint64_t total = 0;
  zip_int64_t count = 0;
  while ((count = zip_fread(source.get(), buffer.data(), buffer.size())) > 0) {
    total += static_cast<zip_uint64_t>(count);
    if (total > entry.size) break;
    if (!file.append(buffer.data(), static_cast<std::size_t>(count)))
      refuse(path, std::string("cannot be written: ") + std::strerror(errno));
  }
  if (count < 0 || total != entry.size)
    refuse(archive, "the entry " + in_quotes(entry.name) + " is damaged");
}

}  // namespace

void unpack_archive(const fs::path& archive, const fs::path& target) {
  const Zip zip = open_archive(archive);
  for (const Entry& entry : contents_of(zip.get(), archive).entries)
    extract(zip.get(), entry, archive, target);
}

fs::path unpacked_archive(const fs::path& archive) {
  const fs::path path = fs::absolute(archive);
  const std::string key = path.string() + "|" + std::to_string(fs::file_size(path)) + "|" +
                          std::to_string(fs::last_write_time(path).time_since_epoch().count());
  return shared_scratch_folder(key, [&](const fs::path& folder) { unpack_archive(path, folder); });
}

std::vector<std::string> remarks_on_archive(const fs::path& archive) {
  const auto repeated = contents_of(open_archive(archive).get(), archive).repeated;
  if (repeated.empty()) return {};
  return {"the archive holds " + in_quotes(*repeated.begin()) +
          (repeated.size() > 1 ? " and " + std::to_string(repeated.size() - 1) + " more" : "") +
          " twice, with the same contents"};
}

}  // namespace concord
