#pragma once

#include <functional>
#include <utility>

#include "concord/simulation.hpp"
#include "simulation/step_report.hpp"

namespace concord {

/// Calls a user's function after every accepted macro-step.
class StepListener : public StepObserver {
 public:
  explicit StepListener(std::function<void(const StepInfo&)> told) : told_(std::move(told)) {}
  void step_accepted(const StepReport& report) override {
    told_({report.index, report.step.begin, report.step.end, report.step.size(),
           report.coupling.iterations, report.coupling.evaluations, report.rejections,
           report.coupling.residual, report.error_estimate, report.wall_time});
  }

 private:
  std::function<void(const StepInfo&)> told_;
};

}  // namespace concord
