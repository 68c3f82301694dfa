#include "simulation/pacing.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <numeric>
#include <thread>
#include <vector>

#include "concord/errors.hpp"
#include "simulation/stop_signals.hpp"
#include "support/agreement.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

std::string rounded(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

using Clock = std::chrono::steady_clock;

double seconds_until(Clock::time_point time) {
  return std::chrono::duration<double>(time - Clock::now()).count();
}

/// Or until a signal comes. What a system needs to wake a process is not slept, but watched. Linux
/// stops who is in front of all others for 50 ms when it has taken 95 % of a second: it sleeps half
/// of what is left at least.
void wait_until(Clock::time_point due, bool in_front) {
  constexpr double usual = 6e-5;  // s
  const double waking = in_front ? std::min(usual, 0.5 * seconds_until(due)) : usual;
  while (StopSignals::received() == 0) {
    const double left = seconds_until(due), seconds = left - waking;
    if (left <= 0.0) return;
    if (seconds <= 0.0) continue;
    timespec time{};
    time.tv_sec = static_cast<std::time_t>(seconds);
    time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);  // any signal ends it
  }
}

constexpr double least_passed = 1e-7;  // s, the first bin's upper end
constexpr double bins_per_decade = 10.0;

}  // namespace

void Lateness::count(double seconds) {
  const auto bin = std::lower_bound(limits.begin(), limits.end(), seconds) - limits.begin();
  ++late[static_cast<std::size_t>(bin)];
  most = std::max(most, seconds);
}

void Lateness::end_early(double residual) {
  ++ended_early;
  left_out = std::max(left_out, residual);
}

void Lateness::pass(double seconds) {
  const double bin = seconds > least_passed
                         ? std::ceil(bins_per_decade * std::log10(seconds / least_passed))
                         : 0.0;
  ++passed[std::min(static_cast<std::size_t>(bin), passed.size() - 1)];
}

double Lateness::within(double share) const {
  const auto all = std::accumulate(passed.begin(), passed.end(), std::int64_t{0});
  std::int64_t count = 0;
  for (std::size_t bin = 0; bin < passed.size(); ++bin) {
    count += passed[bin];
    if (all > 0 && static_cast<double>(count) >= share * static_cast<double>(all))
      return least_passed * std::pow(10.0, static_cast<double>(bin) / bins_per_decade);
  }
  return 0.0;
}

std::int64_t Lateness::total() const {
  return std::accumulate(late.begin(), late.end(), std::int64_t{0});
}

std::string Lateness::describe() const {
  std::string text = std::to_string(total()) + " of " + std::to_string(steps) + " macro-steps late";
  if (total() > 0) text += ", at most " + rounded(most);
  const char* separator = ": ";
  for (std::size_t bin = 0; bin < late.size(); ++bin) {
    if (late[bin] == 0) continue;
    const bool beyond = bin == limits.size();
    text += separator + std::to_string(late[bin]) + (beyond ? " above " : " up to ") +
            rounded(limits[beyond ? bin - 1 : bin]);
    separator = ", ";
  }
  text += "; passed within " + rounded(within(0.5)) + " (half), " + rounded(within(0.99)) +
          " (99 %), " + rounded(within(0.9999)) + " (99.99 %)";
  if (ended_early > 0) {
    text += "; " + std::to_string(ended_early) + " ended before they had converged, at most " +
            short_number(left_out) + " times the coupling tolerance left out";
  }
  return text;
}

Pacing::Pacing(MPI_Comm comm, const RealtimeSettings& settings)
    : comm_(comm), settings_(settings) {}

Pacing::~Pacing() {
  if (settings_.paced()) prctl(PR_SET_TIMERSLACK, 0UL);  // as it was
  if (in_memory_) munlockall();
  if (in_front_) sched_setscheduler(0, policy_, &priority_);
}

std::string Pacing::begin(double t, Deadline& deadline) {
  if (settings_.paced()) prctl(PR_SET_TIMERSLACK, 1UL);
  std::string refused = settings_.paced() && settings_.locked ? lock() : "";
  begin_ = t;
  began_ = Clock::now();
  pace(deadline);
  return refused;
}

/// All ranks have begun at about the same time.
void Pacing::pace(Deadline& deadline) const {
  if (settings_.paced() && settings_.anytime)
    deadline.pace(began_, begin_, settings_.factor, *settings_.anytime);
}

/// Ranks that share a processor wait for each other by yielding it, which those in front of all
/// others do not.
std::string Pacing::lock() {
  std::vector<std::string> refused;
  in_memory_ = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
  if (!in_memory_)
    refused.push_back(std::string("memory (mlockall: ") + std::strerror(errno) + ")");
  sched_param first{};
  first.sched_priority = sched_get_priority_min(SCHED_FIFO);
  if (static_cast<unsigned>(ranks_of(comm_)) > std::thread::hardware_concurrency()) {
    refused.push_back("scheduling (more ranks than processors)");
  } else {
    policy_ = sched_getscheduler(0);
    sched_getparam(0, &priority_);
    in_front_ = sched_setscheduler(0, SCHED_FIFO, &first) == 0;
    if (!in_front_)
      refused.push_back(std::string("scheduling (SCHED_FIFO: ") + std::strerror(errno) + ")");
  }
  return joined(refused, ", ");
}

double Pacing::keep(double t, Lateness& lateness, Deadline& deadline) {
  if (!settings_.paced()) return 0.0;
  const double passed = std::chrono::duration<double>(Clock::now() - began_).count();
  const double first_passed = agree_on_largest(comm_, rank_in(comm_) == 0 ? passed : 0.0);
  const double late = first_passed - (t - begin_) / settings_.factor;
  ++lateness.steps;
  if (late > 0.0) {
    lateness.pass(late);
    be_late(t, late, lateness);
    pace(deadline);
    return 0.0;
  }
  pace(deadline);
  const auto due = began_ + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>((t - begin_) / settings_.factor));
  wait_until(due, in_front_);
  lateness.pass(-seconds_until(due));
  return -late;
}

void Pacing::be_late(double t, double seconds, Lateness& lateness) {
  if (settings_.late == Late::fail) {
    throw SimulationError("t = " + short_number(t) + " s: the macro-step was done " +
                          rounded(seconds) + " after its time, under -cosim_realtime " +
                          short_number(settings_.factor) +
                          "; take larger macro-steps, a smaller factor, or "
                          "-cosim_realtime_late warn or skip");
  }
  if (settings_.late == Late::warn && lateness.total() == 0 && rank_in(comm_) == 0) {
    std::fprintf(stderr,
                 "concord: warning: t = %s s: the macro-step was done %s after its time; the "
                 "summary counts those that are\n",
                 short_number(t).c_str(), rounded(seconds).c_str());
  }
  lateness.count(seconds);
  if (settings_.late == Late::skip) {
    began_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
}

}  // namespace concord
