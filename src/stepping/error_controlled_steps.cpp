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

double within(double error) {
  return std::isfinite(error) ? std::max(error, least_error) : 1.0 / least_error;
}

}  // namespace

ErrorControlledSteps::ErrorControlledSteps(const Limits& limits, double first,
                                           const std::vector<double>& events)
    : limits_(limits),
      course_(limits.start, limits.stop, events),
      size_(std::clamp(first, limits.smallest, limits.largest)) {}

/// Two equal steps rather than a full one and a short rest.
StepController::Interval ErrorControlledSteps::propose() const {
  const Interval full = course_.step(size_);
  const bool last_two = full.size < course_.rest() && course_.rest() < 2.0 * size_;
  return last_two ? course_.step(0.5 * course_.rest()) : full;
}

void ErrorControlledSteps::move_on() {
  const Interval done = propose();
  course_.move_on(done, course_.elapsed() + done.size);
  after_rejection_ = false;
}

void ErrorControlledSteps::accept(double error_norm, int order) {
  const double error = within(error_norm);
  const double tried = propose().size;
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
  const double tried = propose().size;
  const double before = std::min(size_, tried);
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
