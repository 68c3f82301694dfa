#include "simulation/pacing.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <numeric>

#include "concord/errors.hpp"
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

/// Until a signal comes, at the latest.
void wait(double seconds) {
  timespec time{};
  time.tv_sec = static_cast<std::time_t>(seconds);
  time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

}  // namespace

void Lateness::count(double seconds) {
  const auto bin = std::lower_bound(limits.begin(), limits.end(), seconds) - limits.begin();
  ++late[static_cast<std::size_t>(bin)];
  most = std::max(most, seconds);
}

std::int64_t Lateness::total() const {
  return std::accumulate(late.begin(), late.end(), std::int64_t{0});
}

std::string Lateness::describe() const {
  std::string text = std::to_string(total()) + " of " + std::to_string(steps) + " macro-steps late";
  if (total() == 0) return text;
  text += ", at most " + rounded(most);
  const char* separator = ": ";
  for (std::size_t bin = 0; bin < late.size(); ++bin) {
    if (late[bin] == 0) continue;
    const bool beyond = bin == limits.size();
    text += separator + std::to_string(late[bin]) + (beyond ? " above " : " up to ") +
            rounded(limits[beyond ? bin - 1 : bin]);
    separator = ", ";
  }
  return text;
}

Pacing::Pacing(MPI_Comm comm, const RealtimeSettings& settings)
    : comm_(comm), settings_(settings) {}

void Pacing::begin(double t) {
  begin_ = t;
  began_ = Clock::now();
}

double Pacing::keep(double t, Lateness& lateness) {
  if (!settings_.paced()) return 0.0;
  const double passed = std::chrono::duration<double>(Clock::now() - began_).count();
  const double first_passed = agree_on_largest(comm_, rank_in(comm_) == 0 ? passed : 0.0);
  const double late = first_passed - (t - begin_) / settings_.factor;
  ++lateness.steps;
  if (late > 0.0) {
    be_late(t, late, lateness);
    return 0.0;
  }
  wait(-late);
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
