/// One `concord COMMAND` after the other, each a process of its own that is forked from this one:
/// libraries are loaded and linked once, which takes longer than most commands. Standard input says
/// the files for standard output and error, the folder and the command line, see asked_words.hpp;
/// standard output has the exit code of each, or the number of the signal that has ended it,
/// negative, and its processor time, s, in a line.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "cli/command_line.hpp"
#include "support/asked_words.hpp"

namespace {

void become(int stream, const std::string& path, int access) {
  const int file = open(path.c_str(), access);
  dup2(file, stream);
  close(file);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

[[noreturn]] void command(std::vector<std::string> words) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  become(STDIN_FILENO, "/dev/null", O_RDONLY);
  become(STDOUT_FILENO, words.at(0), O_WRONLY | O_APPEND);
  become(STDERR_FILENO, words.at(1), O_WRONLY | O_APPEND);
  if (chdir(words.at(2).c_str()) != 0) std::exit(1);
  std::vector<char*> arguments;
  for (std::size_t i = 3; i < words.size(); ++i) arguments.push_back(words[i].data());
  arguments.push_back(nullptr);
  std::exit(concord::command_line(static_cast<int>(arguments.size()) - 1, arguments.data()));
}

}  // namespace

int main() {
  for (auto words = words_of(read_text()); !words.empty(); words = words_of(read_text())) {
    const pid_t child = fork();
    if (child == 0) command(words);
    int status = 0;
    rusage spent{};
    if (child < 0 || wait4(child, &status, 0, &spent) != child) return 1;
    std::cout << (WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status)) << ' '
              << seconds(spent.ru_utime) + seconds(spent.ru_stime) << std::endl;
  }
}
