#include "simulation/macro_step.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>

#include "concord/errors.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

using Clock = std::chrono::steady_clock;

std::unique_ptr<StepController> make_controller(const Settings& settings) {
  if (settings.adapt == Adapt::iteration) {
    return std::make_unique<IterationSteps>(settings.start, settings.stop, settings.step,
                                            settings.step_min);
  }
  return std::make_unique<FixedSteps>(settings.start, settings.stop, settings.step);
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
      controller_(make_controller(settings)) {}

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

const StepReport& MacroStepper::advance() {
  const auto clock_start = Clock::now();
  report_.rejections = 0;
  for (;;) {
    const auto [begin, end] = controller_->propose();
    const MacroStep step{begin, end};
    if (settings_.method.rolls_back()) {
      subsystems_.save();
    }
    report_.coupling = coupling_->solve(step, point_, trial_);
    report_.coupling.status = agreed(report_.coupling);
    if (report_.coupling.status == CouplingStatus::converged) {
      commit(step);
      break;
    }
    if (!report_.coupling.retryable ||
        agree_on_largest(subsystems_.comm(), subsystems_.fatal() ? 1 : 0) != 0) {
      give_up(step, "");
    }
    if (!controller_->rejected()) {
      give_up(step, settings_.adapt == Adapt::none ? "" : ", the smallest (-cosim_step_min)");
    }
    subsystems_.restore();
    coupling_->rejected();
    ++report_.rejections;
  }
  report_.wall_time = std::chrono::duration<double>(Clock::now() - clock_start).count();
  return report_;
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
  controller_->accepted();
  report_.step = step;
  report_.point = &point_;
  ++report_.index;
}

void MacroStepper::give_up(const MacroStep& step, const std::string& remark) {
  std::ostringstream message;
  message.precision(12);
  message << "t = " << step.begin << " s, macro-step " << step.size() << " s" << remark << ": "
          << coupling_->explain(report_.coupling);
  throw SimulationError(message.str());
}

}  // namespace concord
