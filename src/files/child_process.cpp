#include "files/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>

#include "concord/errors.hpp"
#include "support/exception_words.hpp"
#include "support/foreign_call.hpp"
#include "support/pipe.hpp"

namespace concord {
namespace {

/// Stands before each record: what an FMU writes into the pipe by chance or on purpose lacks it.
std::string new_seal() {
  std::random_device device;
  std::string seal;
  for (int i = 0; i < 16; ++i) seal += static_cast<char>(device());
  return seal;
}

void write_all(int file, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(1);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

/// What comes within so many seconds, until the other end is closed.
std::string read_all(int file, unsigned seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::string text;
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    pollfd readable{file, POLLIN, 0};
    if (left.count() <= 0) return text;
    if (poll(&readable, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t count = read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

/// Seal, size, text.
void send(int file, const std::string& seal, const std::string& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  std::string record = seal;
  record.append(reinterpret_cast<const char*>(&size), sizeof size);
  write_all(file, record + text);
}

std::vector<std::string> unsealed(const std::string& bytes, const std::string& seal) {
  std::vector<std::string> records;
  std::size_t at = 0;
  while ((at = bytes.find(seal, at)) != std::string::npos) {
    std::uint32_t size = 0;
    at += seal.size();
    if (at + sizeof size > bytes.size()) break;
    std::memcpy(&size, bytes.data() + at, sizeof size);
    at += sizeof size;
    if (at + size > bytes.size()) break;
    records.push_back(bytes.substr(at, size));
    at += size;
  }
  return records;
}

/// Writes nothing that anybody sees, no core file either.
void be_silent() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

/// Whether the child had to be killed: it may have stopped its own alarm.
bool was_late(pid_t child) {
  constexpr int patience = 100;  // hundredths of a second
  int status = 0;
  pid_t ended = 0;
  for (int i = 0; ended == 0 && i < patience; ++i) {
    ended = waitpid(child, &status, WNOHANG);
    if (ended == 0) usleep(10'000);
  }
  if (ended == child) return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return true;
}

constexpr const char* end_record = "end";

}  // namespace

ChildReport in_child_process(
    unsigned seconds,
    const std::function<void(const std::function<void(const std::string&)>&)>& work) {
  const std::string seal = new_seal();
  Pipe pipe;
  const pid_t child = fork();
  if (child < 0) throw SimulationError(std::string("cannot fork: ") + std::strerror(errno));
  if (child == 0) {
    foreign_code_ends_child();
    std::signal(SIGALRM, SIG_DFL);
    alarm(seconds);
    be_silent();
    try {
      work([&](const std::string& record) { send(pipe.writes.get(), seal, record); });
    } catch (...) {
      send(pipe.writes.get(), seal, "stopped " + in_words(std::current_exception()));
    }
    send(pipe.writes.get(), seal, end_record);
    _exit(0);
  }
  pipe.writes.reset(-1);
  ChildReport report;
  report.records = unsealed(read_all(pipe.reads.get(), seconds + 1), seal);
  report.late = was_late(child);
  report.ended = !report.records.empty() && report.records.back() == end_record;
  if (report.ended) report.records.pop_back();
  return report;
}

std::vector<double> computed_apart(unsigned seconds,
                                   const std::function<std::vector<double>()>& work) {
  const ChildReport report = in_child_process(seconds, [&](const auto& tell) {
    const std::vector<double> values = work();
    std::string bytes(values.size() * sizeof(double), '\0');
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    tell("values " + bytes);
  });
  const std::string prefix = "values ";
  for (const std::string& record : report.records) {
    if (!record.starts_with(prefix)) continue;
    std::vector<double> values((record.size() - prefix.size()) / sizeof(double));
    if (!values.empty())
      std::memcpy(values.data(), record.data() + prefix.size(), values.size() * sizeof(double));
    return values;
  }
  const std::string stopped = "stopped ";
  for (const std::string& record : report.records)
    if (record.starts_with(stopped)) throw SimulationError(record.substr(stopped.size()));
  throw SimulationError(report.late ? "no end in time" : "it crashes");
}

}  // namespace concord
