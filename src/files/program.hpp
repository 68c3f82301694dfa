#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace concord {

/// How another program is called.
struct ProgramCall {
  std::vector<std::string> words;  ///< the program, which $PATH finds, and its arguments
  int input = -1;                  ///< file descriptor that it reads as its input; -1: nothing
  /// Where everything goes that it writes; empty: where ours goes.
  std::filesystem::path output = "/dev/null";
  int answers = -1;           ///< file descriptor of its standard output, in the place of `output`
  bool outlives_us = false;   ///< has a session of its own, and holds no folder in use
  std::vector<int> passed{};  ///< our open files that it gets, as 3, 4, ...
};

/// The interpreter of Python that the environment variable CONCORD_PYTHON names, else `otherwise`.
std::string python_interpreter(const std::string& otherwise = "python3");

/// Starts the program, which gets no other open files of ours. Throws std::system_error.
pid_t start_program(const ProgramCall& call);

/// How a process has ended, of what waitpid says: "was ended by SIGKILL", "ended with exit code 1".
std::string end_in_words(int wait_status);

/// The exit code of the program; 128 and the signal's number where a signal ended it. Throws
/// std::system_error where it cannot be started.
int run_program(const ProgramCall& call);

}  // namespace concord
