#include "subsystem/fmu/emulated/emulated_process.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "files/program.hpp"
#include "subsystem/fmu/emulated/host_program.hpp"
#include "support/options.hpp"
#include "support/pipe.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

/// Of host_platform.inc and host_messages.inc.
constexpr std::int32_t protocol = 1;
enum Request : std::uint32_t { load_request, find_request, back_request };
enum Kind : std::uint8_t { answer_kind, log_kind, update_kind, clock_kind, end_kind };

constexpr std::uint32_t longest_message = std::uint32_t{1} << 31;
constexpr int look_time = 100;           ///< ms between looks whether it lives
constexpr double longest_start = 120.0;  ///< s: wine makes its folder at the first time
constexpr std::chrono::milliseconds longest_end{3000};

/// A write to a pipe that nobody reads must not raise a signal, which would ask the run to stop.
class WithoutBrokenPipes {
 public:
  WithoutBrokenPipes() {
    sigemptyset(&broken_);
    sigaddset(&broken_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_, &before_);
  }
  ~WithoutBrokenPipes() {
    if (broke_ && sigismember(&before_, SIGPIPE) == 0) {
      const timespec none{};
      sigtimedwait(&broken_, nullptr, &none);
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutBrokenPipes(const WithoutBrokenPipes&) = delete;
  WithoutBrokenPipes& operator=(const WithoutBrokenPipes&) = delete;

  void note_broken() { broke_ = true; }

 private:
  sigset_t broken_, before_;
  bool broke_ = false;
};

/// How a process ends whose input has ended; one that takes too long is killed.
int end_of(pid_t process) {
  const auto until = std::chrono::steady_clock::now() + longest_end;
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process || (ended < 0 && errno != EINTR)) return status;
    if (std::chrono::steady_clock::now() > until) kill(process, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Wine's remarks about itself, unless somebody wants them, are nobody's, and it asks for no parts
/// that FMUs do not need.
void add_wine_settings(std::vector<std::string>& command) {
  command.emplace_back("env");
  for (const char* setting : {"WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml="}) {
    const std::string name = std::string(setting).substr(0, std::string(setting).find('='));
    if (std::getenv(name.c_str()) == nullptr) command.emplace_back(setting);
  }
}

}  // namespace

EmulatedProcess::EmulatedProcess(const Emulation& emulation, const std::string& prefix)
    : emulation_(emulation), start_limit_(longest_start) {
  start();
  try {
    MessageWriter writer;
    writer.put(protocol, path_there(emulation.binary.string()), prefix);
    send(load_request, writer.bytes());
    const auto why = await_answer({});
    if (!why.empty())
      throw InputError(std::string(reinterpret_cast<const char*>(why.data()), why.size()));
  } catch (...) {
    to_.reset(-1);
    if (process_ != 0) end_of(process_);
    throw;
  }
  start_limit_ = 0.0;
}

void EmulatedProcess::start() {
  Pipe in, out;
  ProgramCall call;
  if (emulation_.platform.is_windows() && !emulation_.emulator.empty())
    add_wine_settings(call.words);
  call.words.insert(call.words.end(), emulation_.emulator.begin(), emulation_.emulator.end());
  call.words.push_back(fmu_host_program(emulation_).string());
  call.input = in.reads.get();
  call.answers = out.writes.get();
  call.output.clear();
  try {
    process_ = start_program(call);
  } catch (const std::system_error& error) {
    throw InputError(error.what());
  }
  to_ = std::move(in.writes);
  from_ = std::move(out.reads);
}

EmulatedProcess::~EmulatedProcess() {
  to_.reset(-1);
  if (process_ != 0) end_of(process_);
}

bool EmulatedProcess::lives() {
  int status = 0;
  if (process_ != 0 && waitpid(process_, &status, WNOHANG) != 0) process_ = 0;
  return process_ != 0;
}

/// Wine shows the root as drive Z.
std::string EmulatedProcess::path_there(const std::string& path) const {
  if (!emulation_.platform.is_windows() || !path.starts_with('/')) return path;
  std::string there = "Z:" + path;
  std::ranges::replace(there, '/', '\\');
  return there;
}

std::string EmulatedProcess::uri_there(const std::string& uri) const {
  const std::string root = "file:///";
  if (!emulation_.platform.is_windows() || !uri.starts_with(root)) return uri;
  return root + "Z:/" + uri.substr(root.size());
}

/// A host that answers nonsense is not asked again.
void EmulatedProcess::fail() {
  if (process_ != 0) kill(process_, SIGKILL);
  throw EmulationEnd("answers nonsense");
}

void EmulatedProcess::write_all(std::span<const std::byte> bytes) {
  WithoutBrokenPipes whole;
  while (!bytes.empty()) {
    const ssize_t count = write(to_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {  // why, reading tells
      whole.note_broken();
      return;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void EmulatedProcess::send(std::uint32_t number, std::span<const std::byte> content) {
  if (content.size() > longest_message)
    throw SimulationError("a call of more than 2 GB cannot go to another process");
  const std::uint32_t header[] = {static_cast<std::uint32_t>(sizeof number + content.size()),
                                  number};
  written_.resize(sizeof header + content.size());
  std::memcpy(written_.data(), header, sizeof header);
  std::ranges::copy(content, written_.begin() + sizeof header);
  write_all(written_);
}

/// Until there is something to read, or the end of the process, which programs that it has started
/// may hide.
void EmulatedProcess::await_bytes() {
  const auto began = std::chrono::steady_clock::now();
  pollfd readable{from_.get(), POLLIN, 0};
  for (;;) {
    const int found = poll(&readable, 1, look_time);
    if (found > 0) return;
    int status = 0;
    if (found == 0 && process_ != 0 && waitpid(process_, &status, WNOHANG) == process_) {
      process_ = 0;
      throw EmulationEnd(end_in_words(status));
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    if (start_limit_ == 0.0 || taken.count() < start_limit_) continue;
    kill(process_, SIGKILL);
    throw EmulationEnd("has not begun within " + short_number(start_limit_) + " s");
  }
}

void EmulatedProcess::read_all(std::byte* place, std::size_t size) {
  while (size > 0) {
    if (used_ == read_.size()) {
      await_bytes();
      read_.resize(65536);
      ssize_t count = 0;
      do count = read(from_.get(), read_.data(), read_.size());
      while (count < 0 && errno == EINTR);
      read_.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      used_ = 0;
      if (read_.empty()) {
        to_.reset(-1);
        const int status = process_ != 0 ? end_of(std::exchange(process_, 0)) : 0;
        throw EmulationEnd(end_in_words(status));
      }
    }
    const std::size_t part = std::min(size, read_.size() - used_);
    std::memcpy(place, read_.data() + used_, part);
    used_ += part;
    place += part;
    size -= part;
  }
}

/// Room for it is made as it comes: nonsense may claim any size.
void EmulatedProcess::read_message() {
  std::uint32_t size = 0;
  read_all(reinterpret_cast<std::byte*>(&size), sizeof size);
  if (size == 0 || size > longest_message) fail();
  message_.clear();
  constexpr std::size_t most_at_once = 1 << 20;
  while (message_.size() < size) {
    const std::size_t before = message_.size();
    message_.resize(before + std::min<std::size_t>(most_at_once, size - before));
    read_all(message_.data() + before, message_.size() - before);
  }
}

void EmulatedProcess::call_back(std::uint8_t kind, MessageReader message,
                                const EmulatedCallbacks& callbacks) {
  if (kind == update_kind) {
    const auto time = message.taken<double>();
    const bool set_requested = message.taken<std::uint8_t>() != 0;
    if (callbacks.update) callbacks.update(time, set_requested);
  } else if (kind == clock_kind) {
    if (callbacks.clock) callbacks.clock();
  } else {
    fail();
  }
  send(back_request, {});
}

std::span<const std::byte> EmulatedProcess::await_answer(const EmulatedCallbacks& callbacks) {
  for (;;) {
    read_message();
    const auto kind = static_cast<std::uint8_t>(message_.front());
    const auto content = std::span<const std::byte>(message_).subspan(1);
    if (kind == answer_kind) return content;
    const auto text = [](std::span<const std::byte> bytes) {
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    if (kind == end_kind) throw EmulationEnd("is given up: " + text(content));
    if (kind == log_kind) {
      std::int32_t status = 0;
      if (content.size() < sizeof status) fail();
      std::memcpy(&status, content.data(), sizeof status);
      if (callbacks.log) callbacks.log(status, text(content.subspan(sizeof status)).c_str());
    } else {
      call_back(kind, MessageReader(content), callbacks);
    }
  }
}

std::uint32_t EmulatedProcess::number_of(const std::string& function) {
  const auto known = numbers_.find(function);
  if (known != numbers_.end()) return known->second;
  MessageWriter writer;
  writer.put(function);
  send(find_request, writer.bytes());
  std::uint32_t number = 0;
  const auto answer = await_answer({});
  if (answer.size() != sizeof number) fail();
  std::memcpy(&number, answer.data(), sizeof number);
  return numbers_[function] = number;
}

MessageReader EmulatedProcess::call(const std::string& function,
                                    std::span<const std::byte> arguments,
                                    const EmulatedCallbacks& callbacks) {
  send(number_of(function), arguments);
  return MessageReader(await_answer(callbacks));
}

}  // namespace concord
