#include "stepping/step_controller.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace concord {
namespace {

/// A rest of a macro-step smaller than this fraction of it is rounding, not a step of its own.
constexpr double sliver = 1e-6;

}  // namespace

ExactTimes::ExactTimes(double start, double stop, const std::vector<double>& events) {
  std::copy_if(events.begin(), events.end(), std::back_inserter(times_),
               [&](double time) { return time > start && time < stop; });
  times_.push_back(stop);
}

double ExactTimes::after(double time) const {
  const auto next = std::upper_bound(times_.begin(), times_.end(), time);
  return next == times_.end() ? stop() : *next;
}

FixedSteps::FixedSteps(double start, double stop, double size, const std::vector<double>& events)
    : exact_(start, stop, events), size_(size) {
  begin_at(start);
}

void FixedSteps::begin_at(double start) {
  start_ = start;
  end_ = exact_.after(start);
  count_ = std::max(1L, static_cast<long>(std::ceil((end_ - start_) / size_ - sliver)));
  done_ = 0;
}

void FixedSteps::accepted() {
  ++done_;
  if (done_ >= count_ && end_ < exact_.stop()) {
    begin_at(end_);
  }
}

IterationSteps::IterationSteps(double start, double stop, double largest, double smallest,
                               const std::vector<double>& events)
    : exact_(start, stop, events),
      largest_(largest),
      smallest_(smallest),
      anchor_(start),
      size_(largest) {}

StepController::Interval IterationSteps::propose() const {
  const double end = anchor_ + static_cast<double>(since_anchor_ + 1) * size_;
  const double exact = exact_.after(begin());
  return {begin(), exact - end < sliver * size_ ? exact : end};
}

void IterationSteps::resize(double size) {
  anchor_ = begin();
  since_anchor_ = 0;
  size_ = size;
}

void IterationSteps::accepted() {
  const double end = propose().end;
  if (end == exact_.after(begin())) {
    anchor_ = end;
    since_anchor_ = 0;
    size_ = std::min(largest_, 1.3 * size_);
    return;
  }
  ++since_anchor_;
  if (size_ < largest_) {
    resize(std::min(largest_, 1.3 * size_));
  }
}

bool IterationSteps::rejected() {
  const double tried = propose().end - propose().begin;
  resize(0.5 * std::min(size_, tried));
  return size_ >= smallest_;
}

}  // namespace concord
