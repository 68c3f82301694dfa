#include "coupling/estimates/richardson_coupling.hpp"

#include <cmath>
#include <limits>

#include "support/agreement.hpp"

namespace concord {

double modified_constant(int order, bool feedthrough) {
  constexpr double without[] = {2.0, 14.0 / 5.0, 32.0 / 9.0};
  constexpr double with[] = {2.0, 3.0, 4.0};
  return feedthrough ? with[order] : without[order];
}

RichardsonCoupling::RichardsonCoupling(const Method& method, RankNetwork& subsystems)
    : CouplingDecorator(std::make_unique<ExplicitCoupling>(method, subsystems)),
      subsystems_(subsystems),
      order_(method.hold_order),
      modified_(method.estimate == ErrorEstimate::richardson_modified),
      divisor_((modified_ ? modified_constant(order_, subsystems.network().has_feedthrough())
                          : std::pow(2.0, order_ + 1)) -
               1.0),
      fine_(static_cast<ExplicitCoupling&>(inner())),
      coarse_(method, subsystems),
      norm_(subsystems, method.adapt_tolerance, error_order()),
      estimates_(subsystems.n_outputs()) {}

/// Errors of states over a step are O(H^{k+2}); what inputs reach directly is O(H^{k+1}).
int RichardsonCoupling::error_order() const {
  return subsystems_.network().has_feedthrough() ? order_ : order_ + 1;
}

void RichardsonCoupling::start(const MacroStep& first, double stop, CommunicationPoint& point) {
  fine_.start(first, stop, point);
  coarse_.restart(point);
  rough_ = first_ = {point.inputs, point.outputs, point.polynomials};
  middle_.point = point;
  middle_.states.resize(subsystems_.n_states());
  norm_.restart(point);
}

CouplingStatus RichardsonCoupling::agreed(const CouplingReport& report) const {
  return static_cast<CouplingStatus>(
      agree_on_largest(subsystems_.comm(), static_cast<int>(report.status)));
}

CouplingStatus RichardsonCoupling::two_small_steps(const MacroStep& step,
                                                   const CommunicationPoint& point, Trial& trial) {
  const double half = 0.5 * step.size();
  const double middle = step.begin + half;
  first_.inputs = point.inputs;
  first_.polynomials = point.polynomials;
  const CouplingStatus first = agreed(fine_.solve({step.begin, middle, half}, point, first_));
  if (first != CouplingStatus::converged) {
    return first;
  }
  if (const double event = subsystems_.next_event(first_.inputs); event <= middle) {
    middle_.event = event;
  }
  std::swap(middle_.point.inputs, first_.inputs);
  std::swap(middle_.point.outputs, first_.outputs);
  std::swap(middle_.point.polynomials, first_.polynomials);
  middle_.point.time = middle;
  middle_.point.last_step = half;
  middle_.point.slopes_known = true;
  subsystems_.gather_states(middle_.states);
  fine_.commit(middle_.point);
  middle_committed_ = true;
  trial.polynomials = middle_.point.polynomials;
  return agreed(fine_.solve({middle, step.end, half}, middle_.point, trial));
}

CouplingReport RichardsonCoupling::solve(const MacroStep& step, const CommunicationPoint& point,
                                         Trial& trial) {
  middle_.event = std::numeric_limits<double>::infinity();
  rough_.inputs = point.inputs;
  rough_.polynomials = point.polynomials;
  CouplingReport report = (modified_ ? fine_ : coarse_).solve(step, point, rough_);
  report.status = agreed(report);
  report.retryable = true;
  report.evaluations = 3;
  if (report.status != CouplingStatus::converged) {
    return report;
  }
  subsystems_.restore();
  report.status = two_small_steps(step, point, trial);
  if (report.status == CouplingStatus::converged) {
    estimate(trial);
    report.error = norm_(step.size(), estimates_, trial.outputs);
    report.error_order = error_order();
  }
  return report;
}

void RichardsonCoupling::estimate(const Trial& trial) {
  for (std::size_t o = 0; o < estimates_.size(); ++o) {
    estimates_[o] = (rough_.outputs[o].value - trial.outputs[o].value) / divisor_;
  }
}

void RichardsonCoupling::commit(const CommunicationPoint& point) {
  fine_.commit(point);
  coarse_.commit(point, middle_.point.last_step + point.last_step);
  norm_.commit(point);
  middle_committed_ = false;
}

void RichardsonCoupling::rejected() {
  if (middle_committed_) {
    fine_.take_back();
  }
  middle_committed_ = false;
}

void RichardsonCoupling::restart(CommunicationPoint& point) {
  fine_.restart(point);
  coarse_.restart(point);
  norm_.restart(point);
}

}  // namespace concord
