#include "files/scratch_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "concord/errors.hpp"
#include "files/program.hpp"
#include "support/node_token.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_folder(const fs::path& path, const std::string& problem) {
  throw InputError(path.string() + ": " + problem +
                   "; FMUs are unpacked there: name another folder in the environment variable "
                   "TMPDIR");
}

fs::path temporary_folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? fs::path(chosen) : fs::path("/tmp");
}

/// "concord-fmu-1000-", what the folders of this user begin with; a token follows.
std::string own_prefix() { return "concord-fmu-" + std::to_string(getuid()) + "-"; }

/// Held by every process that uses the folder, as long as it lives.
constexpr const char* in_use = ".in_use";

bool is_private_folder(const fs::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == getuid() && (status.st_mode & 077) == 0;
}

/// Removes `folder` unless some process uses it.
void remove_unused(const fs::path& folder) {
  const int file = open((folder / in_use).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  std::error_code ignored;
  if (flock(file, LOCK_EX | LOCK_NB) == 0) fs::remove_all(folder, ignored);
  close(file);
}

/// What is left where process and waiting child were killed together.
void remove_stale_folders(const fs::path& temporary) {
  constexpr std::chrono::minutes still_being_made(1);
  const std::string prefix = own_prefix();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(temporary, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || name.size() != prefix.size() + node_token().size() ||
        !is_private_folder(entry.path()))
      continue;
    const auto changed = fs::last_write_time(entry.path(), error);
    if (!error && fs::file_time_type::clock::now() - changed > still_being_made)
      remove_unused(entry.path());
  }
}

/// Removes `folder` when this process has ended, by whatever signal, and no other uses it: a shell
/// waits until the pipe that only this process can write to is closed.
void remove_at_end_of_process(const fs::path& folder) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    refuse_folder(folder, std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const char* const script =
      "read -r nothing; command -v flock && exec flock \"$0/.in_use\" rm -rf -- \"$0\"; "
      "rm -rf -- \"$0\"";
  std::error_code problem;
  try {
    start_program(
        {.words = {"sh", "-c", script, folder.string()}, .input = ends[0], .outlives_us = true});
  } catch (const std::system_error& error) {
    problem = error.code();
  }
  close(ends[0]);
  if (problem) {
    fs::remove_all(folder);
    refuse_folder(folder, "cannot start sh: " + problem.message());
  }
}

/// The folder of this process's job on this node; the last process that uses it removes it.
class JobFolder {
 public:
  JobFolder() : path_(fs::absolute(temporary_folder()) / (own_prefix() + node_token())) {
    if (mkdir(path_.c_str(), 0700) == 0) {
      remove_at_end_of_process(path_);
      remove_stale_folders(path_.parent_path());
    } else if (errno != EEXIST) {
      refuse_folder(path_, std::strerror(errno));
    }
    if (!is_private_folder(path_))
      refuse_folder(path_, "is there and not a private folder of this user");
    file_ = open((path_ / in_use).c_str(), O_CREAT | O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file_ < 0 || flock(file_, LOCK_SH) != 0)
      refuse_folder(path_ / in_use, std::strerror(errno));
  }
  ~JobFolder() {
    close(file_);
    if (process_ == getpid()) remove_unused(path_);
  }
  JobFolder(const JobFolder&) = delete;
  JobFolder& operator=(const JobFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  pid_t process_ = getpid();
  int file_ = -1;
};

/// Exclusive among processes while it lives.
class FileLock {
 public:
  explicit FileLock(const fs::path& path)
      : file_(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (file_ < 0 || flock(file_, LOCK_EX) != 0) {
      const std::string reason = std::strerror(errno);
      if (file_ >= 0) close(file_);
      refuse_folder(path, reason);
    }
  }
  ~FileLock() { close(file_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_;
};

std::string hashed(const std::string& key) { return std::to_string(std::hash<std::string>{}(key)); }

}  // namespace

fs::path shared_scratch_folder(const std::string& key,
                               const std::function<void(const fs::path&)>& fill) {
  static const JobFolder job;
  const fs::path folder = job.path() / hashed(key);
  const fs::path done = folder.string() + ".done";
  const FileLock lock(folder.string() + ".lock");
  if (fs::exists(done)) return folder;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (mkdir(folder.c_str(), 0700) != 0) refuse_folder(folder, std::strerror(errno));
  try {
    fill(folder);
  } catch (...) {
    fs::remove_all(folder, ignored);
    throw;
  }
  std::ofstream mark(done);
  if (!mark) refuse_folder(done, "cannot be written");
  return folder;
}

}  // namespace concord
