#include "support/work_clock.hpp"

#include <chrono>
#include <utility>

namespace concord {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

double seconds(std::chrono::duration<double> duration) { return duration.count(); }

}  // namespace

WorkClock::Instant WorkClock::now() {
  return Nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double WorkClock::seconds_since(Instant begin) { return seconds(Nanoseconds(now() - begin)); }

void WorkClock::add(Phase phase, Instant begin) {
  const Instant end = now();
  const auto p = static_cast<std::size_t>(phase);
  phases_[p] += weight_ * seconds(Nanoseconds(end - begin));
  if (traces_) {
    keep(begin, end, Interval::none, p);
  }
}

void WorkClock::add(std::span<const std::size_t> subsystems, Work work, Instant begin) {
  const Instant end = now();
  const auto w = static_cast<std::size_t>(work);
  const double share =
      weight_ * seconds(Nanoseconds(end - begin)) / static_cast<double>(subsystems.size());
  for (const std::size_t subsystem : subsystems) {
    works_[subsystem][w] += share;
  }
  if (traces_) {
    keep(begin, end, static_cast<std::uint32_t>(subsystems.front()), w);
  }
}

void WorkClock::add_once(Phase phase, Instant begin) {
  const double before = std::exchange(weight_, 1.0);
  add(phase, begin);
  weight_ = before;
}

void WorkClock::trace(std::size_t most) {
  traces_ = looks_ = true;
  most_ = most;
  origin_ = now();
  since_1970_ = seconds(std::chrono::system_clock::now().time_since_epoch());
}

void WorkClock::keep(Instant begin, Instant end, std::uint32_t subsystem, std::size_t what) {
  if (traced_.size() == most_) {
    ++left_out_;
    return;
  }
  traced_.push_back({since_1970_ + seconds(Nanoseconds(begin - origin_)),
                     since_1970_ + seconds(Nanoseconds(end - origin_)), subsystem,
                     static_cast<std::uint8_t>(what)});
}

}  // namespace concord
