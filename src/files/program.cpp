#include "files/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

extern char** environ;

namespace concord {
namespace {

constexpr int first_passed = 3;

/// What posix_spawn does in the child before the program starts.
class SpawnActions {
 public:
  explicit SpawnActions(const ProgramCall& call) {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    if (call.input < 0) {
      posix_spawn_file_actions_addopen(&files_, 0, "/dev/null", O_RDONLY, 0);
    } else {
      posix_spawn_file_actions_adddup2(&files_, call.input, 0);
    }
    if (!call.output.empty()) {
      posix_spawn_file_actions_addopen(&files_, 1, call.output.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0600);
      posix_spawn_file_actions_adddup2(&files_, 1, 2);
    }
    if (call.answers >= 0) posix_spawn_file_actions_adddup2(&files_, call.answers, 1);
    pass(call.passed);
    if (call.outlives_us) {
      posix_spawn_file_actions_addchdir_np(&files_, "/");
      posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID);
    }
  }
  ~SpawnActions() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&files_);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  /// By way of numbers that none of them has.
  void pass(const std::vector<int>& files) {
    const int count = static_cast<int>(files.size());
    int beyond = first_passed + count;
    for (const int file : files) beyond = std::max(beyond, file + 1);
    for (int i = 0; i < count; ++i)
      posix_spawn_file_actions_adddup2(&files_, files[static_cast<std::size_t>(i)], beyond + i);
    for (int i = 0; i < count; ++i)
      posix_spawn_file_actions_adddup2(&files_, beyond + i, first_passed + i);
    posix_spawn_file_actions_addclosefrom_np(&files_, first_passed + count);
  }

  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

}  // namespace

std::string python_interpreter(const std::string& otherwise) {
  const char* const chosen = std::getenv("CONCORD_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : otherwise;
}

pid_t start_program(const ProgramCall& call) {
  std::vector<std::string> words = call.words;
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  const SpawnActions actions(call);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], actions.files(), actions.attributes(),
                                 arguments.data(), environ);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), "cannot start " + call.words.front());
  }
  return child;
}

std::string end_in_words(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return std::string("was ended by SIG") + sigabbrev_np(WTERMSIG(wait_status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(wait_status));
}

int run_program(const ProgramCall& call) {
  const pid_t child = start_program(call);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(),
                              "cannot wait for " + call.words.front());
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace concord
