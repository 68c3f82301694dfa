#include "subsystem/fmu/crash_report.hpp"

#include <unistd.h>

#include <csignal>
#include <cstring>
#include <iterator>

namespace concord {

const char* volatile running_fmu = nullptr;

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

void write_text(const char* text) {
  const ssize_t ignored = write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(ignored);
}

void report(int number) {
  if (const char* fmu = running_fmu) {
    write_text("concord: error: the FMU ");
    write_text(fmu);
    write_text(" crashed (");
    write_text(name_of(number));
    write_text(") in one of its functions; `concord check MODEL --probe` tells in which\n");
    _exit(1);
  }
  for (std::size_t i = 0; i < std::size(crashes); ++i)
    if (crashes[i] == number) sigaction(number, &previous[i], nullptr);
  raise(number);
}

}  // namespace

void report_crashes_of_fmus() {
  static const bool done = [] {
    struct sigaction action {};
    action.sa_handler = report;
    action.sa_flags = SA_NODEFER;
    for (std::size_t i = 0; i < std::size(crashes); ++i)
      sigaction(crashes[i], &action, &previous[i]);
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace concord
