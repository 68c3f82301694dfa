#include "support/call_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr const char* header =
    "time,rank,process,call,event,subsystem,instance,function,arguments,status,microseconds\n";

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::shared_ptr<CallLog>& in_use() {
  static std::shared_ptr<CallLog> log;
  return log;
}

std::string decimal(double value, int decimals) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

}  // namespace

std::shared_ptr<CallLog> CallLog::create(const std::string& path, int rank) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    throw InputError("cannot write '" + path + "': " + std::strerror(errno) +
                     "; choose another file with -cosim_fmu_calls");
  }
  close(file);
  auto log = std::make_shared<CallLog>(CallLogPlace{path, rank, now()});
  log->write(header);
  return log;
}

CallLog::CallLog(CallLogPlace place)
    : place_(std::move(place)), file_(open(place_.path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)) {
  if (file_ < 0) tell_failure();
}

CallLog::~CallLog() {
  if (file_ >= 0) close(file_);
}

void CallLog::tell_failure() const {
  std::fprintf(stderr, "concord: warning: cannot write '%s': %s; the log of calls ends here\n",
               place_.path.c_str(), std::strerror(errno));
}

/// One call of the kernel, so that lines of several processes don't mix.
void CallLog::write(const std::string& line) {
  if (file_ < 0) return;
  if (::write(file_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  tell_failure();
  close(std::exchange(file_, -1));
}

std::string CallLog::line(std::int64_t call, std::string_view event, const CalledInstance& instance,
                          std::string_view function, std::string_view arguments) const {
  std::string text = decimal(now() - place_.began, 6);
  for (const std::int64_t number : {std::int64_t{place_.rank}, std::int64_t{getpid()}, call}) {
    text += "," + std::to_string(number);
  }
  text += "," + std::string(event) + "," + csv_field(instance.subsystem) + "," +
          std::to_string(instance.number) + "," + std::string(function);
  return text + "," + csv_field(arguments);
}

std::int64_t CallLog::begin(const CalledInstance& instance, std::string_view function,
                            std::string_view arguments) {
  write(line(++calls_, "call", instance, function, arguments) + ",,\n");
  return calls_;
}

void CallLog::end(std::int64_t call, const CalledInstance& instance, std::string_view function,
                  std::string_view results, std::string_view status, double seconds) {
  write(line(call, "return", instance, function, results) + "," + std::string(status) + "," +
        decimal(1e6 * seconds, 3) + "\n");
}

CallLog::Use::Use(std::shared_ptr<CallLog> log)
    : before_(std::exchange(in_use(), std::move(log))) {}

CallLog::Use::~Use() { in_use() = std::move(before_); }

const std::shared_ptr<CallLog>& CallLog::current() { return in_use(); }

}  // namespace concord
