#include "stepping/step_controller.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace concord {
namespace {

/// A rest of a macro-step smaller than this fraction of it is no step of its own.
constexpr double sliver = 1e-6;

}  // namespace

double shortest_step(double t, double usual) {
  constexpr double spacings = 16.0;
  return spacings * std::numeric_limits<double>::epsilon() * std::max(std::abs(t), usual);
}

Course::Course(double start, double stop, const std::vector<double>& events) {
  std::copy_if(events.begin(), events.end(), std::back_inserter(times_),
               [&](double time) { return time > start && time < stop; });
  times_.push_back(stop);
  begin_at(start);
}

/// Of the difference between this time and one reached from the last exact one.
double Course::rounding(double time) const {
  return 2.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(time), std::abs(last_));
}

bool Course::ends_early() const {
  return end_by_ > time() + rounding(time()) && end_by_ < next_ - rounding(next_);
}

void Course::begin_at(double time) {
  last_ = time;
  elapsed_ = 0.0;
  look_ahead();
}

void Course::look_ahead() {
  const auto next = std::upper_bound(times_.begin(), times_.end(), last_);
  const auto added = std::upper_bound(added_.begin(), added_.end(), last_);
  next_ = next == times_.end() ? last_ : *next;
  if (added != added_.end()) next_ = std::min(next_, *added);
  distance_ = next_ - last_;
}

void Course::io(Archive& archive) {
  CONCORD_MEMBERS(archive, added_, last_, elapsed_, end_by_);
  if (archive.reading()) {
    look_ahead();
  }
}

void Course::stop_over(double time) {
  std::erase_if(added_, [&](double added) { return added <= last_; });
  const auto next = std::lower_bound(times_.begin(), times_.end(), time);
  const auto added = std::lower_bound(added_.begin(), added_.end(), time);
  const bool ahead = time > this->time() + rounding(time) && next != times_.end();
  const auto is_there = [&](auto found, const auto& times) {
    return found != times.end() && *found - time <= rounding(time);
  };
  if (ahead && !is_there(next, times_) && !is_there(added, added_)) {
    added_.insert(added, time);
    look_ahead();
  }
}

StepController::Interval Course::step(double size, double reached) const {
  const double left = rest(), rounding = this->rounding(next());
  if (left > size * (1.0 + sliver) + rounding) {
    return {time(), last_ + reached, size};
  }
  return {time(), next(), std::abs(left - size) <= rounding ? size : left};
}

bool Course::move_on(const StepController::Interval& step, double reached) {
  if (step.end != next()) {
    elapsed_ = reached;
    return false;
  }
  begin_at(next());
  return true;
}

void FixedSteps::accepted() { done_ = course_.move_on(propose(), reached()) ? 0 : done_ + 1; }

IterationSteps::IterationSteps(double start, double stop, double largest, double smallest,
                               const std::vector<double>& events)
    : course_(start, stop, events), largest_(largest), smallest_(smallest), size_(largest) {}

void IterationSteps::resize(double size) {
  resized_at_ = course_.elapsed();
  done_ = 0;
  size_ = size;
}

void IterationSteps::accepted() {
  const bool exact = course_.move_on(propose(), reached());
  ++done_;
  if (exact || size_ < largest_) {
    resize(std::min(largest_, 1.3 * size_));
  }
}

bool IterationSteps::rejected() {
  const double tried = std::min(size_, propose().size);
  resize(std::max({0.5 * tried, smallest_, shortest_step(course_.time(), largest_)}));
  return size_ < tried;
}

}  // namespace concord
