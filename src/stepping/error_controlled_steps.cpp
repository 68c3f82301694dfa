#include "stepping/error_controlled_steps.hpp"

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

constexpr double safety = 0.7;
constexpr double proportional = 0.4;
constexpr double integral = 0.3;
constexpr double least_factor = 0.2;
constexpr double usual_growth = 2.0;
constexpr double growth_of_beginners = 10.0;

/// Of the first macro-step: what a new one begins with at least, as growing takes steps, too.
constexpr double least_beginning = 1e-3;

/// Smaller errors count as this: the step grows by the largest factor anyhow.
constexpr double least_error = 1e-10;

/// Smaller errors of the past count as this (Hairer, Norsett and Wanner's dopri5).
constexpr double least_remembered = 1e-4;

double within(double error) {
  return std::isfinite(error) ? std::max(error, least_error) : 1.0 / least_error;
}

}  // namespace

ErrorControlledSteps::ErrorControlledSteps(const Limits& limits, double first,
                                           const std::vector<double>& events)
    : limits_(limits), first_(first), course_(limits.start, limits.stop, events), size_(0.0) {
  begin_anew(first);
}

double ErrorControlledSteps::smallest() const {
  return std::min(std::max(limits_.smallest, shortest_step(course_.time(), first_)),
                  limits_.largest);
}

void ErrorControlledSteps::begin_anew(double size) {
  size_ =
      std::clamp(size, std::min(std::max(smallest(), least_beginning * first_), limits_.largest),
                 limits_.largest);
  last_error_ = 1.0;
  largest_factor_ = limits_.retries ? growth_of_beginners : usual_growth;
  after_rejection_ = false;
  look_ahead();
}

/// As far as the last two macro-steps before an exact time are shared out; and rounding.
void ErrorControlledSteps::look_ahead() {
  constexpr double two_steps = 2.0 + 1e-6;
  looked_to_ = std::max(looked_to_, course_.time() + two_steps * size_);
}

double ErrorControlledSteps::earliest_exact() const { return std::max(propose().end, looked_to_); }

/// Two equal steps rather than a full one and a short rest.
StepController::Interval ErrorControlledSteps::propose() const {
  const Interval full = course_.step(size_);
  const bool last_two = full.size < course_.rest() && course_.rest() < 2.0 * size_;
  return last_two ? course_.step(0.5 * course_.rest()) : full;
}

void ErrorControlledSteps::move_on() {
  const Interval done = propose();
  const bool is_short = done.size < slowest * (limits_.stop - limits_.start);
  n_short_ = is_short ? n_short_ + 1 : 0;
  course_.move_on(done, course_.elapsed() + done.size);
  after_rejection_ = false;
}

void ErrorControlledSteps::accept(double error_norm, int order) {
  const double error = within(error_norm);
  const double tried = propose().size;
  const double exponent = 1.0 / (order + 1);
  const double plain = safety * std::pow(error, -exponent);
  const double settled =
      std::pow(plain, integral) * std::pow(last_error_ / error, proportional * exponent);
  const double wanted = plain > usual_growth ? plain : settled;
  const double factor = std::clamp(wanted, least_factor, after_rejection_ ? 1.0 : largest_factor_);
  largest_factor_ = wanted < usual_growth ? usual_growth : largest_factor_;
  // A step that was clipped to an exact time says nothing against the size before.
  const double clipped_from = factor >= 1.0 ? std::max(size_, factor * tried) : factor * tried;
  move_on();
  size_ = std::clamp(clipped_from, smallest(), limits_.largest);
  last_error_ = std::max(error, least_remembered);
  look_ahead();
}

bool ErrorControlledSteps::shrink(double factor) {
  const double tried = propose().size;
  const double before = std::min(size_, tried);
  size_ = std::max(factor * tried, smallest());
  after_rejection_ = true;
  largest_factor_ = usual_growth;
  return size_ < before;
}

bool ErrorControlledSteps::reject(double error_norm, int order) {
  const double factor = safety * std::pow(within(error_norm), -1.0 / (order + 1));
  return shrink(std::clamp(factor, least_factor, safety));
}

void ErrorControlledSteps::accepted() {
  move_on();
  look_ahead();
}

bool ErrorControlledSteps::rejected() { return shrink(0.5); }

}  // namespace concord
