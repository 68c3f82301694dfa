#include "subsystem/fmu/probe.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>

#include "concord/errors.hpp"
#include "subsystem/fmu/probe_trials.hpp"
#include "subsystem/fmu/setup.hpp"

namespace concord {

namespace {

constexpr unsigned longest_probe = 60;  ///< seconds

/// The child: no way back into the program, whatever the FMU does.
[[noreturn]] void try_in_child(const FmuSetup& setup, int report) {
  alarm(longest_probe);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  const auto tell = [&](const std::string& line) {
    const std::string text = line + "\n";
    const ssize_t ignored = write(report, text.data(), text.size());
    static_cast<void>(ignored);
  };
  try {
    run_probe_trials(setup, tell);
  } catch (const std::exception& error) {
    tell(std::string("stopped ") + error.what());
  }
  tell("end");
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(number, SIG_DFL);
  _exit(0);
}

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = read(file, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(count));
  return text;
}

/// "name value" lines of the child.
FmuProbe understood(const std::string& text) {
  FmuProbe probe;
  std::istringstream lines(text);
  std::string doing, stopped;
  bool ended = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    const std::string key = line.substr(0, blank);
    const std::string value = blank == std::string::npos ? "" : line.substr(blank + 1);
    if (key == "doing") doing = value;
    if (key == "stopped") stopped = value;
    if (key == "line") probe.lines.push_back(value);
    if (key == "rollback") probe.rollback = value == "1";
    if (key == "serializes") probe.serializes = value == "1";
    if (key == "directional") probe.directional = value == "1";
    if (key == "input_order") probe.input_order = std::stoi(value);
    ended = ended || key == "end";
  }
  if (!ended) probe.crash = doing.empty() ? "loading it" : doing;
  if (!stopped.empty()) probe.lines.push_back("stopped while " + doing + ": " + stopped);
  return probe;
}

}  // namespace

FmuProbe probe_fmu(const FmuSetup& setup) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw SimulationError(std::string("cannot make a pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) throw SimulationError(std::string("cannot fork: ") + std::strerror(errno));
  if (child == 0) try_in_child(setup, ends[1]);
  close(ends[1]);
  FmuProbe probe = understood(read_all(ends[0]));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!probe.crash.empty()) {
    const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    probe.lines.push_back((late ? "no end after a minute while " : "CRASHES while ") + probe.crash);
  }
  return probe;
}

std::shared_ptr<const FmuSetup> without_refuted(const FmuSetup& setup, const FmuProbe& probe) {
  const FmuRequest& request = setup.request;
  if (!probe.crash.empty())
    throw InputError(request.location + ": subsystem '" + request.subsystem + "' (" +
                     request.path.string() + "): the FMU crashes while " + probe.crash);
  auto result = std::make_shared<FmuSetup>(setup);
  Capabilities& can = result->description.capabilities;
  if (probe.rollback == false) can.rollback = false;
  if (probe.directional == false) can.linearization = false;
  if (probe.input_order)
    result->request.options.input_derivatives =
        std::min(result->request.options.input_derivatives, *probe.input_order);
  return result;
}

}  // namespace concord
