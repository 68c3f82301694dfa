#pragma once

#include <array>
#include <memory>
#include <span>

#include "coupling/coupling.hpp"
#include "simulation/settings.hpp"
#include "simulation/step_report.hpp"
#include "stepping/error_controlled_steps.hpp"

namespace concord {

/// Advances the coupled system from communication point to communication point.
class MacroStepper {
 public:
  MacroStepper(const Settings& settings, RankNetwork& subsystems);

  /// Consistent start at settings.start. Throws SimulationError. Collective.
  void start();

  bool finished() const { return controller_->finished(); }
  const CommunicationPoint& point() const { return point_; }
  const Coupling& coupling() const { return *coupling_; }

  /// One accepted macro-step, or two where the coupling takes them together, after as many rejected
  /// ones as it takes. Throws SimulationError, the same on every rank. Collective.
  std::span<const StepReport> advance();

 private:
  CouplingStatus agreed(const CouplingReport& report) const;
  CouplingReport attempt(const MacroStep& step);
  bool cannot_retry(const CouplingReport& report) const;
  bool shrink(const CouplingReport& report);
  double error_norm() const;
  void commit(const MacroStep& step);
  std::span<const StepReport> reported(const MacroStep& step, StepReport report);
  void restart_after_event();
  [[noreturn]] void give_up(const MacroStep& step, const CouplingReport& report,
                            const std::string& remark);

  const Settings& settings_;
  RankNetwork& subsystems_;
  std::unique_ptr<Coupling> coupling_;
  std::unique_ptr<ErrorControlledSteps> by_error_;  ///< one of the two chooses the macro-steps
  std::unique_ptr<StepController> others_;
  StepController* controller_;
  CommunicationPoint point_;
  Trial trial_;
  double error_ = 0.0;  ///< err of the last attempt; 0 without an estimate
  std::int64_t index_ = 0;
  std::array<StepReport, 2> reports_;
};

}  // namespace concord
