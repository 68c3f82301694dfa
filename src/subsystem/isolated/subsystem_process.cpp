#include "subsystem/isolated/subsystem_process.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include "concord/errors.hpp"
#include "files/program.hpp"
#include "support/pipe.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds until_killed{1000}, longest_end{10'000};

pid_t start_host(int memory, int order) {
  static const std::string program = host_program();
  ProgramCall call;
  call.words = {program, std::to_string(getpid())};
  call.output.clear();
  call.passed = {memory, order};
  try {
    return start_program(call);
  } catch (const std::system_error& error) {
    throw SimulationError(error.what());
  }
}

}  // namespace

std::string host_program() {
  Dl_info library = {};
  std::error_code error;
  const bool known = dladdr(reinterpret_cast<const void*>(&host_program), &library) != 0;
  const fs::path folder = fs::canonical(known ? library.dli_fname : "", error).parent_path();
  const char* const name = "concord_subsystem_host";
  for (const char* way : {"../bin", CONCORD_LIBRARY_TO_PROGRAMS}) {
    const fs::path path = folder / way / name;
    if (fs::exists(path, error)) return path.string();
  }
  throw InputError("isolated subsystems need the program " + std::string(name) +
                   ", which is not in " +
                   (folder / CONCORD_LIBRARY_TO_PROGRAMS).lexically_normal().string() +
                   "; install Concord again");
}

SubsystemProcess::SubsystemProcess(std::string what, double call_limit)
    : what_(std::move(what)), call_limit_(call_limit) {
  Pipe order;
  process_ = start_host(channel_.file(), order.reads.get());
  order_ = std::move(order.writes);
}

SubsystemProcess::~SubsystemProcess() { end(); }

void SubsystemProcess::reap(int wait_status) {
  process_ = 0;
  if (names_place_) return;
  last_words_ = channel_.last_words();
  names_place_ = !last_words_.empty() && last_words_ != channel_.reason();
  if (last_words_.empty()) last_words_ = what_ + " " + end_in_words(wait_status);
}

bool SubsystemProcess::lives() {
  int status = 0;
  const pid_t ended = process_ == 0 ? 0 : waitpid(process_, &status, WNOHANG);
  if (ended < 0 && errno == ECHILD) status = 0;
  if (ended != 0) reap(status);
  return process_ != 0;
}

bool SubsystemProcess::wait_for_end(milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (milliseconds pause{1}; lives(); pause = std::min(2 * pause, milliseconds(20))) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

/// The process says where it was, if it still can.
void SubsystemProcess::order_end(double limit) {
  channel_.write_reason((what_ + " did not return within " + short_number(limit) +
                         " s (-subsystem_call_limit, -cosim_hang_limit)")
                            .c_str());
  if (write(order_.get(), "", 1) != 1 || !wait_for_end(until_killed)) {
    kill_it();
    if (!names_place_) last_words_ = channel_.reason();
  }
}

/// What a process takes to begin is not its subsystem's, and long on a busy machine.
bool SubsystemProcess::may_go_on(double limit) {
  if (!lives()) return false;
  const auto now = std::chrono::steady_clock::now();
  if (!channel_.is_there()) called_ = now;
  const std::chrono::duration<double> taken = now - called_;
  if (limit == 0.0 || taken.count() < limit) return true;
  order_end(limit);
  return false;
}

std::optional<MessageReader> SubsystemProcess::call(std::span<const std::byte> request,
                                                    CallStatus& status) {
  if (process_ == 0) return std::nullopt;
  if (call_limit_ > 0.0) called_ = std::chrono::steady_clock::now();
  channel_.call(request);
  const auto answer = channel_.wait_for_answer([this] { return may_go_on(call_limit_); });
  if (!answer) return std::nullopt;
  MessageReader reader = take_words(MessageReader(*answer), status);
  if (status.ending != Ending::foreign_end) return reader;
  wait_for_end(longest_end);
  return std::nullopt;
}

MessageReader SubsystemProcess::take_words(MessageReader answer, CallStatus& status) {
  answer.take(status);
  if (status.ending == Ending::foreign_end) {
    answer.take(last_words_);
    names_place_ = true;
  }
  return answer;
}

/// Whether it has answered, within some seconds or the limit of calls; if it has not, it has ended.
bool SubsystemProcess::obeys(RemoteFunction function) {
  MessageWriter request;
  request.put(function);
  const double longest = std::chrono::duration<double>(longest_end).count();
  const double limit = call_limit_ > 0.0 ? std::min(call_limit_, longest) : longest;
  called_ = std::chrono::steady_clock::now();
  channel_.call(request.bytes());
  const auto answer = channel_.wait_for_answer([&] { return may_go_on(limit); });
  CallStatus status;
  if (answer) take_words(MessageReader(*answer), status);
  return answer && status.ending == Ending::done;
}

bool SubsystemProcess::release() {
  if (process_ == 0 || obeys(RemoteFunction::release)) return true;
  if (!wait_for_end(until_killed)) kill_it();
  return false;
}

void SubsystemProcess::end() {
  if (process_ == 0) return;
  if (!obeys(RemoteFunction::end) || !wait_for_end(until_killed)) kill_it();
}

void SubsystemProcess::kill_it() {
  if (process_ == 0) return;
  kill(process_, SIGKILL);
  wait_for_end(longest_end);
}

}  // namespace concord
