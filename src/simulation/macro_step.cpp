#include "simulation/macro_step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>

#include "concord/errors.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

using Clock = std::chrono::steady_clock;

std::unique_ptr<StepController> make_controller(const Settings& settings) {
  if (settings.adapt == Adapt::iteration) {
    return std::make_unique<IterationSteps>(settings.start, settings.stop, settings.step,
                                            settings.step_min, settings.events);
  }
  return std::make_unique<FixedSteps>(settings.start, settings.stop, settings.step,
                                      settings.events);
}

/// Richardson's macro-steps are two of the size that the user means.
std::unique_ptr<ErrorControlledSteps> make_error_controller(const Settings& settings) {
  if (settings.method.estimate == ErrorEstimate::none) {
    return nullptr;
  }
  const ErrorControlledSteps::Limits limits{settings.start, settings.stop, 2.0 * settings.step,
                                            2.0 * settings.step_min};
  return std::make_unique<ErrorControlledSteps>(limits, limits.largest, settings.events);
}

double loosest_rtol(const Settings& settings) {
  double loosest = 0.0;
  for (const auto& subsystem : settings.subsystems) {
    loosest = std::max(loosest, subsystem.rtol);
  }
  return loosest;
}

}  // namespace

MacroStepper::MacroStepper(const Settings& settings, RankNetwork& subsystems)
    : settings_(settings),
      subsystems_(subsystems),
      coupling_(
          make_coupling(settings.method, subsystems, settings.defaults, loosest_rtol(settings))),
      by_error_(make_error_controller(settings)),
      others_(by_error_ ? nullptr : make_controller(settings)),
      controller_(by_error_ ? by_error_.get() : others_.get()) {}

void MacroStepper::start() {
  const auto first = controller_->propose();
  coupling_->start({first.begin, first.end}, settings_.stop, point_);
  trial_.inputs = point_.inputs;
  trial_.outputs = point_.outputs;
  for (std::size_t i = 0; i < point_.inputs.size(); ++i) {
    point_.polynomials[i].c[0] = point_.inputs[i].value;
  }
  trial_.polynomials = point_.polynomials;
}

std::span<const StepReport> MacroStepper::advance() {
  const auto clock_start = Clock::now();
  restart_after_event();
  StepReport report;
  for (;; ++report.rejections) {
    const auto [begin, end] = controller_->propose();
    const MacroStep step{begin, end};
    report.coupling = attempt(step);
    if (report.coupling.status == CouplingStatus::converged && error_ <= 1.0) {
      commit(step);
      report.wall_time = std::chrono::duration<double>(Clock::now() - clock_start).count();
      return reported(step, report);
    }
    if (cannot_retry(report.coupling)) {
      give_up(step, report.coupling, "");
    }
    if (!shrink(report.coupling)) {
      give_up(step, report.coupling,
              settings_.adapt == Adapt::none ? "" : ", the smallest (-cosim_step_min)");
    }
    subsystems_.restore();
    coupling_->rejected();
  }
}

CouplingReport MacroStepper::attempt(const MacroStep& step) {
  if (settings_.method.rolls_back()) {
    subsystems_.save();
  }
  CouplingReport report = coupling_->solve(step, point_, trial_);
  report.status = agreed(report);
  error_ = report.status == CouplingStatus::converged ? error_norm() : 0.0;
  return report;
}

bool MacroStepper::cannot_retry(const CouplingReport& report) const {
  return report.status != CouplingStatus::converged &&
         (!report.retryable ||
          agree_on_largest(subsystems_.comm(), subsystems_.fatal() ? 1 : 0) != 0);
}

/// False: no smaller macro-step is allowed.
bool MacroStepper::shrink(const CouplingReport& report) {
  return report.status == CouplingStatus::converged
             ? by_error_->reject(error_, coupling_->error_order())
             : controller_->rejected();
}

/// err = sqrt(mean_i (EST_i / (ATOL + RTOL |y_i|))^2) over the outputs of all ranks (Arnold 2012).
double MacroStepper::error_norm() const {
  if (!by_error_ || subsystems_.network().n_outputs() == 0) {
    return 0.0;
  }
  const auto estimates = coupling_->error_estimates();
  double sum = 0.0;
  for (std::size_t o = 0; o < estimates.size(); ++o) {
    const double ratio = estimates[o] / (settings_.adapt_atol +
                                         settings_.adapt_rtol * std::abs(trial_.outputs[o].value));
    sum += ratio * ratio;
  }
  const auto count = static_cast<double>(subsystems_.network().n_outputs());
  return std::sqrt(agree_on_sum(subsystems_.comm(), sum) / count);
}

CouplingStatus MacroStepper::agreed(const CouplingReport& report) const {
  return static_cast<CouplingStatus>(
      agree_on_largest(subsystems_.comm(), static_cast<int>(report.status)));
}

/// The only place that changes committed data.
void MacroStepper::commit(const MacroStep& step) {
  std::swap(point_.inputs, trial_.inputs);
  std::swap(point_.outputs, trial_.outputs);
  std::swap(point_.polynomials, trial_.polynomials);
  point_.time = step.end;
  point_.last_step = step.size();
  point_.slopes_known = true;
  coupling_->commit(point_);
  if (by_error_) {
    by_error_->accept(error_, coupling_->error_order());
  } else {
    controller_->accepted();
  }
}

/// The whole cost is the first one's where two macro-steps were taken together.
std::span<const StepReport> MacroStepper::reported(const MacroStep& step, StepReport report) {
  report.error_estimate = error_;
  report.step = step;
  std::size_t count = 0;
  if (const Middle* middle = coupling_->middle()) {
    report.step.end = middle->point.time;
    report.index = ++index_;
    report.point = &middle->point;
    report.states = middle->states;
    reports_[count++] = report;
    report = {};
    report.error_estimate = error_;
    report.step = {middle->point.time, step.end};
  }
  report.index = ++index_;
  report.point = &point_;
  reports_[count++] = report;
  return std::span(reports_).first(count);
}

/// What follows an event is a new start.
void MacroStepper::restart_after_event() {
  if (!std::binary_search(settings_.events.begin(), settings_.events.end(), point_.time)) {
    return;
  }
  point_.last_step = 0.0;
  point_.slopes_known = false;
  coupling_->restart(point_);
  for (std::size_t i = 0; i < point_.inputs.size(); ++i) {
    point_.polynomials[i].c = {point_.inputs[i].value, 0.0, 0.0, 0.0};
  }
}

void MacroStepper::give_up(const MacroStep& step, const CouplingReport& report,
                           const std::string& remark) {
  std::ostringstream message;
  message.precision(12);
  message << "t = " << step.begin << " s, macro-step " << step.size() << " s" << remark << ": "
          << (report.status == CouplingStatus::converged
                  ? "the estimated error is too large; use a smaller -cosim_step_min, or larger "
                    "-cosim_adapt_rtol and -cosim_adapt_atol"
                  : coupling_->explain(report));
  throw SimulationError(message.str());
}

}  // namespace concord
