#pragma once

#include <filesystem>

namespace concord {

/// Says that this process writes the results file at `path`: a locked file beside it,
/// ".<name>.lock", which names the process. What a run that was killed has left of it locks
/// nothing.
class ResultsLock {
 public:
  /// Throws InputError, which names the process that holds it.
  explicit ResultsLock(const std::filesystem::path& path);
  ~ResultsLock();
  ResultsLock(const ResultsLock&) = delete;
  ResultsLock& operator=(const ResultsLock&) = delete;

 private:
  std::filesystem::path lock_path_;
  int file_ = -1;
};

/// Whether a process that lives says so, as far as this host can tell.
bool is_being_written(const std::filesystem::path& path);

}  // namespace concord
