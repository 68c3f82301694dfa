#include "export/shared_library.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "support/options.hpp"

extern char** environ;

namespace concord {

namespace {

namespace fs = std::filesystem;

/// $CC, which may hold options ("ccache gcc"), or cc.
std::vector<std::string> compiler() {
  const char* chosen = std::getenv("CC");
  std::istringstream stream(chosen == nullptr ? "" : chosen);
  std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  return words.empty() ? std::vector<std::string>{"cc"} : words;
}

/// The exit code, or a negative number where the program cannot be started.
int execute(std::vector<std::string> words, const fs::path& messages) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

std::string content(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

Compilation compile_shared_library(const fs::path& source, const fs::path& target) {
  Compilation result;
  std::vector<std::string> words = compiler();
  result.compiler = joined(words, " ");
  words.insert(words.end(), {"-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-o",
                             target.string(), source.string(), "-lm"});
  const fs::path messages = target.string() + ".log";
  const int code = execute(std::move(words), messages);
  result.messages = content(messages);
  if (code < 0) result.outcome = Compilation::Outcome::no_compiler;
  if (code > 0 || (code == 0 && !fs::exists(target))) result.outcome = Compilation::Outcome::failed;
  return result;
}

}  // namespace concord
