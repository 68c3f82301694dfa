#pragma once

#include <filesystem>
#include <string>

namespace concord {

/// A file that a run writes, "results file", and what names it, "-cosim_output".
struct LockedFile {
  std::filesystem::path path;
  std::string what, option;
};

/// Says that this process writes the file: a locked file beside it, ".<name>.lock", which names the
/// process. What a run that was killed has left of it locks nothing.
class WriterLock {
 public:
  /// Throws InputError, which names the process that holds it.
  explicit WriterLock(const LockedFile& file);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  std::filesystem::path lock_path_;
  int file_ = -1;
};

/// Whether a process that lives says so, as far as this host can tell.
bool is_being_written(const std::filesystem::path& path);

}  // namespace concord
