#include "support/work_clock.hpp"

#include <utility>

namespace concord {
namespace {

template <class Duration>
double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

void WorkClock::add(Phase phase, Clock::time_point begin) {
  const auto end = Clock::now();
  const auto p = static_cast<std::size_t>(phase);
  phases_[p] += weight_ * seconds(end - begin);
  if (traces_) {
    keep(begin, end, Interval::none, p);
  }
}

void WorkClock::add(std::span<const std::size_t> subsystems, Work work, Clock::time_point begin) {
  const auto end = Clock::now();
  const auto w = static_cast<std::size_t>(work);
  const double share = weight_ * seconds(end - begin) / static_cast<double>(subsystems.size());
  for (const std::size_t subsystem : subsystems) {
    works_[subsystem][w] += share;
  }
  if (traces_) {
    keep(begin, end, static_cast<std::uint32_t>(subsystems.front()), w);
  }
}

void WorkClock::add_once(Phase phase, Clock::time_point begin) {
  const double before = std::exchange(weight_, 1.0);
  add(phase, begin);
  weight_ = before;
}

void WorkClock::trace(std::size_t most) {
  traces_ = looks_ = true;
  most_ = most;
  origin_ = Clock::now();
  since_1970_ = seconds(std::chrono::system_clock::now().time_since_epoch());
}

void WorkClock::keep(Clock::time_point begin, Clock::time_point end, std::uint32_t subsystem,
                     std::size_t what) {
  if (traced_.size() == most_) {
    ++left_out_;
    return;
  }
  traced_.push_back({since_1970_ + seconds(begin - origin_), since_1970_ + seconds(end - origin_),
                     subsystem, static_cast<std::uint8_t>(what)});
}

}  // namespace concord
