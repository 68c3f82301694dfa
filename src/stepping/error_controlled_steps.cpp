#include "stepping/error_controlled_steps.hpp"

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

constexpr double safety = 0.9;
constexpr double proportional = 0.4;
constexpr double integral = 0.7;
constexpr double least_factor = 0.2;
constexpr double largest_factor = 2.0;

/// Smaller errors count as this: the step grows by the largest factor anyhow.
constexpr double least_error = 1e-10;

/// A rest smaller than this fraction of a macro-step is rounding, not a step of its own.
constexpr double sliver = 1e-6;

double within(double error) {
  return std::isfinite(error) ? std::max(error, least_error) : 1.0 / least_error;
}

}  // namespace

ErrorControlledSteps::ErrorControlledSteps(const Limits& limits, double first,
                                           const std::vector<double>& events)
    : limits_(limits),
      exact_(limits.start, limits.stop, events),
      time_(limits.start),
      size_(std::clamp(first, limits.smallest, limits.largest)) {}

StepController::Interval ErrorControlledSteps::propose() const {
  const double target = exact_.after(time_);
  const double rest = target - time_;
  if (rest <= size_ * (1.0 + sliver)) {
    return {time_, target};
  }
  // Two equal steps rather than a full one and a short rest.
  return {time_, rest < 2.0 * size_ ? time_ + 0.5 * rest : time_ + size_};
}

void ErrorControlledSteps::move_on() {
  time_ = propose().end;
  after_rejection_ = false;
}

void ErrorControlledSteps::accept(double error_norm, int order) {
  const double error = within(error_norm);
  const double tried = propose().end - propose().begin;
  const double exponent = 1.0 / (order + 1);
  double factor = safety * std::pow(error, -integral * exponent) *
                  std::pow(last_error_, proportional * exponent);
  factor = std::clamp(factor, least_factor, after_rejection_ ? 1.0 : largest_factor);
  // A step that was clipped to an exact time says nothing against the size before.
  const double clipped_from = factor >= 1.0 ? std::max(size_, factor * tried) : factor * tried;
  move_on();
  size_ = std::clamp(clipped_from, limits_.smallest, limits_.largest);
  last_error_ = error;
}

bool ErrorControlledSteps::shrink(double factor) {
  const double tried = propose().end - propose().begin;
  const double before = std::min(size_, tried);  // times round: tried may be above the size
  size_ = std::max(factor * tried, limits_.smallest);
  after_rejection_ = true;
  return size_ < before;
}

bool ErrorControlledSteps::reject(double error_norm, int order) {
  const double factor = safety * std::pow(within(error_norm), -1.0 / (order + 1));
  return shrink(std::clamp(factor, least_factor, safety));
}

void ErrorControlledSteps::accepted() { move_on(); }

bool ErrorControlledSteps::rejected() { return shrink(0.5); }

}  // namespace concord
