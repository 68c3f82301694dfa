#include "subsystem/fmu/crash_report.hpp"

#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstring>
#include <iterator>

namespace concord {

const FmuPlace* volatile running_place = nullptr;
const char* volatile running_function = nullptr;

namespace {

constexpr int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
struct sigaction previous[std::size(crashes)];

const char* name_of(int number) {
  switch (number) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    default:
      return "SIGABRT";
  }
}

/// One line of text, made without the heap.
class Line {
 public:
  Line& operator<<(const char* text) {
    const std::size_t count = std::min(std::strlen(text), sizeof text_ - size_);
    std::memcpy(text_ + size_, text, count);
    size_ += count;
    return *this;
  }
  Line& operator<<(double number) {
    size_ = static_cast<std::size_t>(
        std::to_chars(text_ + size_, text_ + sizeof text_, number).ptr - text_);
    return *this;
  }
  void write_to(int file) const {
    const ssize_t ignored = write(file, text_, size_);
    static_cast<void>(ignored);
  }

 private:
  char text_[2048];
  std::size_t size_ = 0;
};

/// "fmi2DoStep of subsystem 'left' (left.fmu) at t = 0.5 s"
void tell_place(Line& line, const FmuPlace& place) {
  line << running_function << " of subsystem '" << place.subsystem << "' (" << place.fmu << ")";
  if (place.time == place.time)
    line << " at t = " << place.time << " s";
  else
    line << " before the start";
}

void report(int number) {
  if (const FmuPlace* place = running_place) {
    Line line;
    line << "concord: error: the FMU crashed (" << name_of(number) << ") in ";
    tell_place(line, *place);
    line << "; ask whoever made it, or run without this subsystem\n";
    line.write_to(STDERR_FILENO);
    _exit(1);
  }
  for (std::size_t i = 0; i < std::size(crashes); ++i)
    if (crashes[i] == number) sigaction(number, &previous[i], nullptr);
  raise(number);
}

}  // namespace

void end_at_once(const char* reason) {
  Line line;
  line << "concord: error: " << reason;
  if (const FmuPlace* place = running_place) {
    line << "; this process was in ";
    tell_place(line, *place);
  }
  line << "\n";
  line.write_to(STDERR_FILENO);
  _exit(1);
}

void report_crashes_of_fmus() {
  static const bool done = [] {
    struct sigaction action {};
    action.sa_handler = report;
    action.sa_flags = SA_NODEFER | SA_ONSTACK;
    for (std::size_t i = 0; i < std::size(crashes); ++i)
      sigaction(crashes[i], &action, &previous[i]);
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace concord
