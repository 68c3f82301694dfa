#include "subsystem/fmu/probe.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <sstream>

#include "concord/errors.hpp"
#include "subsystem/fmu/probe_trials.hpp"
#include "subsystem/fmu/setup.hpp"

namespace concord {

namespace {

constexpr unsigned longest_probe = 60;  ///< seconds

using Tell = std::function<void(const std::string&)>;
using Trials = std::function<void(const Tell&)>;

/// The child: no way back into the program, whatever the FMU does.
[[noreturn]] void try_in_child(const Trials& trials, int report) {
  alarm(longest_probe);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  const auto tell = [&](const std::string& line) {
    const std::string text = line + "\n";
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t count = write(report, text.data() + done, text.size() - done);
      if (count <= 0) _exit(1);
      done += static_cast<std::size_t>(count);
    }
  };
  try {
    trials(tell);
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

/// Adds what the "key value" lines of a child say.
SerializedState understand(const std::string& text, FmuProbe& probe) {
  SerializedState state;
  std::istringstream lines(text);
  std::string doing, stopped;
  bool ended = false;
  const auto also = [](std::optional<bool>& found, const std::string& value) {
    found = found.value_or(true) && value == "1";
  };
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    const std::string key = line.substr(0, blank);
    const std::string value = blank == std::string::npos ? "" : line.substr(blank + 1);
    if (key == "doing") doing = value;
    if (key == "stopped") stopped = value;
    if (key == "line") probe.lines.push_back(value);
    if (key == "rollback") also(probe.rollback, value);
    if (key == "serializes") also(probe.serializes, value);
    if (key == "directional") also(probe.directional, value);
    if (key == "input_order") probe.input_order = std::stoi(value);
    if (key == "state") state.bytes = value;
    if (key == "values") state.values = value;
    ended = ended || key == "end";
  }
  if (!ended) probe.crash = doing.empty() ? "loading it" : doing;
  if (!stopped.empty()) probe.lines.push_back("stopped while " + doing + ": " + stopped);
  return state;
}

/// Runs the trials in a child process and adds what they find.
SerializedState probe_in_child(const Trials& trials, FmuProbe& probe) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw SimulationError(std::string("cannot make a pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) throw SimulationError(std::string("cannot fork: ") + std::strerror(errno));
  if (child == 0) try_in_child(trials, ends[1]);
  close(ends[1]);
  const SerializedState state = understand(read_all(ends[0]), probe);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!probe.crash.empty()) {
    const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    probe.lines.push_back((late ? "no end after a minute while " : "CRASHES while ") + probe.crash);
  }
  return state;
}

}  // namespace

FmuProbe probe_fmu(const FmuSetup& setup) {
  FmuProbe probe;
  const SerializedState state =
      probe_in_child([&](const Tell& tell) { run_probe_trials(setup, tell); }, probe);
  if (!state.bytes.empty() && probe.crash.empty())
    probe_in_child([&](const Tell& tell) { continue_probe(setup, state, tell); }, probe);
  return probe;
}

std::shared_ptr<const FmuSetup> without_refuted(const FmuSetup& setup, const FmuProbe& probe) {
  const FmuRequest& request = setup.request;
  if (!probe.crash.empty())
    throw InputError(request.location + ": subsystem '" + request.subsystem + "' (" +
                     request.path.string() + "): the FMU crashes while " + probe.crash);
  auto result = std::make_shared<FmuSetup>(setup);
  FmuUse& use = result->use;
  use.state = use.state && probe.rollback.value_or(true);
  use.serializes = use.serializes && probe.serializes.value_or(true);
  use.directional = use.directional && probe.directional.value_or(true);
  use.input_order = std::min(use.input_order, probe.input_order.value_or(use.input_order));
  result->description.capabilities = capabilities_of(*result, use);
  return result;
}

}  // namespace concord
