#include "simulation/step_reports.hpp"

#include <algorithm>

namespace concord {

void StepReports::begin() {
  report_.rejections = 0;
  report_.rejected_for = {};
  rejected_ = {};
}

void StepReports::reject(Rejection reason) {
  ++report_.rejected_for[static_cast<std::size_t>(reason)];
  ++report_.rejections;
  rejected_ += report_.coupling;
}

Rejection StepReports::reason() const {
  switch (report_.coupling.status) {
    case CouplingStatus::converged:
      return Rejection::error;
    case CouplingStatus::not_converged:
      return Rejection::coupling;
    case CouplingStatus::failed:
      break;
  }
  return Rejection::subsystem;
}

void StepReports::accept(const MacroStep& step, const CommunicationPoint& point) {
  report_.coupling.iterations += rejected_.iterations;
  report_.coupling.evaluations += rejected_.evaluations;
  report_.coupling.linear_iterations += rejected_.linear_iterations;
  report_.step = step;
  report_.point = &point;
  ++report_.index;
}

std::span<const StepReport> StepReports::tell(const Middle* middle, const EventSteps& events) {
  accepted_[0] = report_;
  if (middle == nullptr) {
    events.tell(accepted_[0]);
    return std::span(accepted_).first(1);
  }
  const MacroStep& step = report_.step;
  accepted_[0].step = {step.begin, middle->point.time, middle->point.last_step};
  accepted_[0].point = &middle->point;
  accepted_[0].states = middle->states;
  const auto behind = std::partition_point(
      report_.inside.begin(), report_.inside.end(),
      [&](const PassedPoint& inside) { return inside.time < middle->point.time; });
  accepted_[0].inside = {report_.inside.begin(), behind};
  ++report_.index;
  accepted_[1].index = report_.index;
  accepted_[1].step = {middle->point.time, step.end, step.size() - middle->point.last_step};
  accepted_[1].error_estimate = report_.error_estimate;
  accepted_[1].point = report_.point;
  accepted_[1].inside = {behind, report_.inside.end()};
  events.tell(accepted_[1]);
  return accepted_;
}

}  // namespace concord
