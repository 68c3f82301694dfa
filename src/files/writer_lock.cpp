#include "files/writer_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "concord/errors.hpp"
#include "files/whole_file.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

std::string host() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

/// "1234 on host node7", as the holder has written it.
std::string read_holder(const fs::path& lock) {
  std::ifstream file(lock);
  std::string text;
  std::getline(file, text);
  return text;
}

/// Whether it has ended, and only its parent has not asked how (proc(5): the state behind the name,
/// which is in brackets).
bool is_zombie(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");
  return name_end != std::string::npos && line[name_end + 2] == 'Z';
}

/// Whether the holder was a process of this host that is no more: a child may still have the lock.
bool is_dead(const std::string& holder) {
  const std::size_t blank = holder.find(' ');
  const auto number = parse_number(holder.substr(0, blank));
  if (!number || !holder.ends_with(" on host " + host())) return false;
  const auto process = static_cast<pid_t>(*number);
  return (kill(process, 0) != 0 && errno == ESRCH) || is_zombie(process);
}

/// `remedy` is another one than another file.
[[noreturn]] void refuse(const LockedFile& file, const std::string& reason,
                         const std::string& remedy) {
  throw InputError("cannot write the " + file.what + " '" + file.path.string() + "': " + reason +
                   "; " + remedy + ", or choose another file with " + file.option);
}

/// Whether `file` is still what lies at `lock`: its last holder removes it.
bool lies_at(const fs::path& lock, int file) {
  struct stat opened {
  }, there{};
  return fstat(file, &opened) == 0 && stat(lock.c_str(), &there) == 0 &&
         opened.st_ino == there.st_ino && opened.st_dev == there.st_dev;
}

int open_lock(const fs::path& lock, int flags) {
  return uninterrupted(
      [&] { return open(lock.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0666); });
}

fs::path lock_of(const fs::path& path) {
  return path.parent_path() / ("." + path.filename().string() + ".lock");
}

/// The locked file, or nothing where another process has it. Where the file system knows no locks
/// (Lustre without `flock`), who has made the file has it, until it is removed.
std::optional<int> locked(const LockedFile& written, const fs::path& lock) {
  for (;;) {
    int file = open_lock(lock, O_CREAT | O_EXCL);
    const bool made = file >= 0;
    if (!made && errno == EEXIST) {
      file = open_lock(lock, 0);
      if (file < 0 && errno == ENOENT) {
        continue;
      }
    }
    if (file < 0) {
      refuse(written,
             "its lock '" + lock.string() + "' cannot be opened (" + std::strerror(errno) + ")",
             "remove that file");
    }
    const bool mine = flock(file, LOCK_EX | LOCK_NB) == 0;
    const int error = mine ? 0 : errno;
    const bool knows_locks = mine || error == EWOULDBLOCK || error == EINTR;
    if (mine ? lies_at(lock, file) : !knows_locks && made) {
      return file;
    }
    close(file);
    if (!mine && error != EINTR) {
      return std::nullopt;
    }
  }
}

}  // namespace

bool is_being_written(const fs::path& path) {
  const fs::path lock = lock_of(path);
  std::error_code error;
  return fs::exists(lock, error) && !is_dead(read_holder(lock));
}

WriterLock::WriterLock(const LockedFile& written) : lock_path_(lock_of(written.path)) {
  auto file = locked(written, lock_path_);
  if (!file) {
    const std::string holder = read_holder(lock_path_);
    if (!is_dead(holder)) {
      refuse(written, "another run is writing it (process " + holder + ")",
             "wait for its end; if that process is gone, remove '" + lock_path_.string() + "'");
    }
    unlink(lock_path_.c_str());
    file = locked(written, lock_path_);
  }
  if (!file) refuse(written, "another run has just begun to write it", "wait for its end");
  file_ = *file;
  const std::string holder = std::to_string(getpid()) + " on host " + host() + "\n";
  if (ftruncate(file_, 0) != 0 ||
      write(file_, holder.data(), holder.size()) != static_cast<ssize_t>(holder.size())) {
    const std::string reason = std::strerror(errno);
    unlink(lock_path_.c_str());
    close(file_);
    refuse(written, reason, "make room");
  }
}

WriterLock::~WriterLock() {
  unlink(lock_path_.c_str());
  close(file_);
}

}  // namespace concord
