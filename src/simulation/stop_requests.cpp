#include "simulation/stop_requests.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "simulation/stop_signals.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

// Seconds of wall time.
constexpr double clock_interval = 0.1;
constexpr double flush_interval = 2.0;
constexpr double most_time_of_flushes = 0.02;

/// The largest of all ranks' counts. Above `stop_on_signal` by the signal's number.
enum Request : int {
  nothing = 0,
  flush_now = 1,
  out_of_time = 2,
  stop_on_signal = 16,
  subsystem_failed = 1024
};

}  // namespace

StopRequests::StopRequests(MPI_Comm comm, std::optional<double> time_limit)
    : comm_(comm), time_limit_(time_limit) {
  MPI_Comm_rank(comm, &rank_);
}

double StopRequests::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - began_).count();
}

bool StopRequests::go_on(double wall_time, bool failed, const std::function<void()>& flush) {
  busy_ += wall_time;
  const int request = agree_on_largest(comm_, own_request(failed));
  if (request == flush_now) {
    const auto began = Clock::now();
    flush();
    flushed_ = Clock::now();
    flush_time_ = std::chrono::duration<double>(flushed_ - began).count();
  }
  if (request >= out_of_time && request != subsystem_failed) {
    reason_ = reason_of(request);
    signal_ = request > stop_on_signal ? request - stop_on_signal : 0;
  }
  return request < out_of_time;
}

int StopRequests::own_request(bool failed) {
  if (failed) {
    return subsystem_failed;
  }
  if (const int number = StopSignals::received(); number != 0) {
    return stop_on_signal + number;
  }
  if (rank_ != 0 || (busy_ < clock_interval && !time_limit_)) {
    return nothing;
  }
  busy_ = 0.0;
  if (time_limit_ && elapsed() > *time_limit_) {
    return out_of_time;
  }
  const double due = std::max(flush_interval, flush_time_ / most_time_of_flushes);
  return std::chrono::duration<double>(Clock::now() - flushed_).count() > due ? flush_now : nothing;
}

std::string StopRequests::reason_of(int request) const {
  if (request > stop_on_signal) {
    const int number = request - stop_on_signal;
    return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  char text[64];
  std::snprintf(text, sizeof text, "-cosim_time_limit, %g s", time_limit_.value_or(0.0));
  return text;
}

}  // namespace concord
