#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

struct zip;

namespace concord {

/// A ZIP archive that appears whole or not at all: everything goes to a temporary file beside it,
/// which takes its place, also of an older file, when it is complete.
class ArchiveWriter {
 public:
  explicit ArchiveWriter(std::filesystem::path path);
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  /// Entries get one fixed date, so that the same content gives the same bytes.
  void add(const std::string& name, std::string content);
  /// The file is read when the archive is closed; it is stored as it is.
  void add_file(const std::string& name, const std::filesystem::path& file);
  /// Throws InputError where the archive cannot be written: no folder, no permission, full disk.
  void close();

 private:
  [[noreturn]] void fail(const std::string& reason) const;
  void place(const std::string& name, void* source, bool compressed);

  std::filesystem::path path_;
  zip* archive_ = nullptr;
  std::vector<std::unique_ptr<std::string>> contents_;
};

/// A text file that appears whole or not at all, in the same way.
void write_whole_file(const std::filesystem::path& path, const std::string& content);

/// Whether both name the same file; false where one does not exist.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace concord
