#include "coupling/estimates/compared_coupling.hpp"

#include <algorithm>

#include "coupling/balance_errors.hpp"
#include "support/agreement.hpp"
#include "support/work_clock.hpp"

namespace concord {
namespace {

/// The prediction starts from exact slopes at every macro-step and knows no inputs that are not
/// hermite: there is no defect that it could learn.
EstimatorSettings without_defect(EstimatorSettings settings) {
  settings.defect = Defect::none;
  return settings;
}

/// q with local errors of outputs O(h^{q+1}), at most the prediction's own.
int local_error_order(const Method& method, bool feedthrough) {
  constexpr int order_of_prediction = 3;
  if (method.solve.from_past) {
    const bool through = feedthrough && !method.consistent_outputs;
    const int order = method.schedule.half_steps_apart ? 1 : method.hold_order;
    return std::min(order_of_prediction, order + (through ? 0 : 1));
  }
  return std::min(order_of_prediction, method.hold.degree + 1);
}

}  // namespace

ComparedCoupling::ComparedCoupling(std::unique_ptr<Coupling> method, const Method& settings,
                                   RankNetwork& subsystems)
    : CouplingDecorator(std::move(method)),
      subsystems_(subsystems),
      consistent_(subsystems),
      estimators_(subsystems, without_defect(settings.estimator), Hold::hermite),
      system_(subsystems, estimators_, Hold::hermite, settings.tolerance),
      order_(local_error_order(settings, subsystems.network().has_feedthrough())),
      norm_(subsystems, settings.adapt_tolerance, order_),
      estimates_(subsystems.n_outputs()),
      terms_(subsystems.n_outputs()),
      noise_(subsystems.n_outputs()) {}

void ComparedCoupling::start(const MacroStep& first, double stop, CommunicationPoint& point) {
  CouplingDecorator::start(first, stop, point);
  predicted_ = {point.inputs, point.outputs, {}};
  norm_.restart(point);
}

void ComparedCoupling::restart(CommunicationPoint& point) {
  CouplingDecorator::restart(point);
  norm_.restart(point);
}

/// Inputs and outputs at the end of the macro-step by the estimators alone.
bool ComparedCoupling::predict(const MacroStep& step, const CommunicationPoint& point) {
  const PhaseScope scope(subsystems_.clock(), Phase::solve);
  begin_.time = point.time;
  begin_.last_step = point.last_step;
  begin_.inputs = point.inputs;
  begin_.outputs = point.outputs;
  begin_.slopes_known = true;
  CommunicationPointEvaluation evaluation(subsystems_);
  const Outcome outcome =
      consistent_.solve(evaluation, Wanted::values_and_derivatives, begin_.inputs, begin_.outputs);
  if (agree_on_largest(subsystems_.comm(), static_cast<int>(outcome)) != 0) {
    return false;
  }
  const auto state = estimators_.prepare(step, begin_);
  if (!system_.solve(state, step, begin_, predicted_.inputs)) {
    return false;
  }
  for (const std::size_t k : subsystems_.all()) {
    estimators_.predict(k, predicted_.inputs, predicted_.outputs);
  }
  return true;
}

CouplingReport ComparedCoupling::solve(const MacroStep& step, const CommunicationPoint& point,
                                       Trial& trial) {
  CouplingReport report;
  predicts_ = predict(step, point);
  if (!predicts_) {
    report.status = CouplingStatus::failed;
    return report;
  }
  report = CouplingDecorator::solve(step, point, trial);
  report.retryable = true;
  if (report.status == CouplingStatus::converged) {
    give_back(step.size());
    compare(trial);
  }
  report.error = norm_(step.size(), estimates_, trial.outputs);
  if (report.error > ErrorNorm::doubtful) {
    estimators_.output_terms(trial.inputs, terms_);
    std::ranges::transform(terms_, noise_.begin(),
                           [&](const Sample& terms) { return norm_.noise(terms.value); });
    report.error = norm_(step.size(), estimates_, trial.outputs, noise_);
  }
  report.error_order = order_;
  return report;
}

/// What macro-steps before have missed of integrals and this one gives back is no error of it: as
/// large on the smallest macro-step, it would be none that is small enough. In the prediction, the
/// end slope of a cubic has it, which changes no value there.
void ComparedCoupling::give_back(double h) {
  const BalanceErrors* balance = inner().balance();
  if (balance == nullptr) {
    return;
  }
  constexpr double integral_of_end_slope = -1.0 / 12.0;
  std::vector<Sample> given = predicted_.inputs;
  for (const std::size_t i : subsystems_.connected_inputs()) {
    given[i].derivative += balance->due(i) / (integral_of_end_slope * h * h);
  }
  for (const std::size_t k : subsystems_.all()) {
    estimators_.predict(k, given, predicted_.outputs);
  }
}

void ComparedCoupling::compare(const Trial& trial) {
  for (std::size_t o = 0; o < estimates_.size(); ++o) {
    estimates_[o] = trial.outputs[o].value - predicted_.outputs[o].value;
  }
}

void ComparedCoupling::commit(const CommunicationPoint& point) {
  CouplingDecorator::commit(point);
  system_.commit(point);
  norm_.commit(point);
}

std::string ComparedCoupling::explain(const CouplingReport& report) {
  if (predicts_) {
    return CouplingDecorator::explain(report);
  }
  if (const auto failure = estimators_.explain()) {
    return *failure;
  }
  return consistent_.failure().empty() ? "the linear system of the error estimate could not be "
                                         "solved; try another -missiles_pc_type"
                                       : consistent_.failure();
}

void ComparedCoupling::view() const {
  CouplingDecorator::view();
  system_.view();
}

}  // namespace concord
