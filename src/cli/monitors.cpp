#include "cli/monitors.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace concord {
namespace {

constexpr auto terminal_interval = std::chrono::milliseconds(200);
constexpr auto log_interval = std::chrono::seconds(10);

}  // namespace

void StepMonitor::step_accepted(const StepReport& report) {
  std::printf("%6lld t %.9g h %.6g iterations %d evaluations %d residual %.3e rejected %d\n",
              static_cast<long long>(report.index), report.step.end, report.step.size(),
              report.coupling.iterations, report.coupling.evaluations, report.coupling.residual,
              report.rejections);
}

ProgressLine::ProgressLine(double start, double stop, const Lateness& lateness)
    : start_(start),
      stop_(stop),
      lateness_(lateness),
      terminal_(isatty(STDERR_FILENO) != 0),
      began_(Clock::now()),
      next_(began_ + (terminal_ ? Clock::duration(terminal_interval) : log_interval)) {}

ProgressLine::~ProgressLine() {
  if (terminal_) {
    std::fprintf(stderr, "\n");
  }
}

void ProgressLine::step_accepted(const StepReport& report) {
  const auto now = Clock::now();
  const bool last = report.step.end >= stop_;
  if (now < next_ && !last) {
    return;
  }
  next_ = now + (terminal_ ? Clock::duration(terminal_interval) : log_interval);
  print(report.step.end, std::chrono::duration<double>(now - began_).count());
}

void ProgressLine::print(double time, double elapsed) {
  const double done = (time - start_) / (stop_ - start_);
  const double left = elapsed * (1.0 - done) / std::max(done, 1e-12);
  const std::string late =
      lateness_.steps == 0 ? "" : "  late " + std::to_string(lateness_.total());
  std::fprintf(stderr, "%s%5.1f %%  t = %.6g s  elapsed %.1f s  left %.1f s%s%s",
               terminal_ ? "\r" : "", 100.0 * done, time, elapsed, left, late.c_str(),
               terminal_ ? "   " : "\n");
  std::fflush(stderr);
}

}  // namespace concord
