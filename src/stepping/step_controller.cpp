#include "stepping/step_controller.hpp"

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

/// A rest of a macro-step smaller than this fraction of it is rounding, not a step of its own.
constexpr double sliver = 1e-6;

}  // namespace

FixedSteps::FixedSteps(double start, double stop, double size)
    : start_(start),
      stop_(stop),
      size_(size),
      count_(std::max(1L, static_cast<long>(std::ceil((stop - start) / size - sliver)))) {}

IterationSteps::IterationSteps(double start, double stop, double largest, double smallest)
    : stop_(stop), largest_(largest), smallest_(smallest), anchor_(start), size_(largest) {}

StepController::Interval IterationSteps::propose() const {
  const double end = anchor_ + static_cast<double>(since_anchor_ + 1) * size_;
  return {begin(), stop_ - end < sliver * size_ ? stop_ : end};
}

void IterationSteps::resize(double size) {
  anchor_ = begin();
  since_anchor_ = 0;
  size_ = size;
}

void IterationSteps::accepted() {
  if (propose().end == stop_) {
    anchor_ = stop_;
    since_anchor_ = 0;
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
