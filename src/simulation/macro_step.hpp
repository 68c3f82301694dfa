#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "coupling/coupling.hpp"
#include "coupling/estimates/error_account.hpp"
#include "coupling/points/loop_watch.hpp"
#include "settings/settings.hpp"
#include "simulation/event_steps.hpp"
#include "simulation/grid_rows.hpp"
#include "simulation/step_report.hpp"
#include "stepping/error_budget.hpp"
#include "stepping/step_controller.hpp"

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
  const LoopWatch& loops() const { return loops_; }
  const ErrorAccount& errors() const { return errors_; }
  const EventSteps& events() const { return events_; }
  /// Of outputs whose subsystems don't tell, so far.
  std::int64_t black_box_jumps() const { return black_box_jumps_; }

  /// A macro-step ends exactly at this time, if it is ahead.
  void stop_over(double time) { controller_->stop_over(time); }

  /// Something outside has changed at the communication point, the same on every rank: the next
  /// macro-step begins as after an event, with this rank's inputs `changes` that nothing feeds.
  struct InputChange {
    std::size_t input;  ///< local index
    double value;
  };
  void jump(std::span<const InputChange> changes);

  /// All that the next macro-step depends on, beside the subsystems: of one that was started when
  /// it is written, of a new one when it is read.
  void io(Archive& archive);

  /// The point is one from which others may go on, who know of loops only what is found here.
  /// Throws SimulationError. Collective.
  void close_watch() { loops_.look(evaluation(), point_.inputs, true); }

  /// One accepted macro-step, or two where the coupling takes them together, after as many rejected
  /// ones as it takes. Throws SimulationError, the same on every rank. Collective.
  std::span<const StepReport> advance();

 private:
  bool can_roll_back(bool events) const;
  bool can_repeat() const;
  void look_for_events();
  bool everyone(bool (*can)(const SubsystemDescription&)) const;
  MacroStep proposed() const;
  double beginning(double unknown) const;
  std::string remedy_of_error() const;
  void settle_start();
  void try_step(const MacroStep& step);
  bool acceptable() const;
  bool retry();
  CouplingStatus agreed(const CouplingReport& report) const;
  void take_held();
  void feed();
  void renew_held();
  void commit(const MacroStep& step);
  void account();
  void count_jumps(const MacroStep& step) {
    const Method& method = settings_.method;
    const int jumps =
        method.knows_only_last_values()
            ? 0
            : subsystems_.count_jumps(point_.outputs, step.size(), method.knows_slopes());
    black_box_jumps_ += jumps;
    jumped_inside_ = jumps > 0;
  }
  [[noreturn]] void refuse_diverged() const;
  std::span<const StepReport> reported(const MacroStep& step);
  bool locates_event(const MacroStep& step);
  void propose();
  void take_back(Rejection reason);
  Rejection reason_of_rejection() const;
  void begin_step();
  bool is_new_start(const MacroStep& step) const;
  bool is_listed(double time) const;
  void touch_listed();
  void begin_anew();
  void restart_coupling();
  void apply_changes();
  void pass_changes(Archive& archive);
  PointEvaluation& evaluation();
  bool ends_interval(double time) const;
  SmoothInterval smooth_interval(double time) const;
  [[noreturn]] void give_up(const MacroStep& step);

  const Settings& settings_;
  RankNetwork& subsystems_;
  bool rolls_back_;
  bool evaluated_at_stop_;  ///< outputs of all subsystems: no step is needed for them
  std::unique_ptr<Coupling> coupling_;
  EventSteps events_;
  std::unique_ptr<StepController> controller_;
  CommunicationPointEvaluation at_point_;
  LoopWatch loops_;
  ErrorAccount errors_;
  std::optional<ErrorBudget> budget_;  ///< where err is an error per unit time
  GridRows grid_;
  CommunicationPoint point_;
  Trial trial_;
  std::vector<Sample> fed_;     ///< P y of the trial, where inputs are held
  bool held_changed_ = false;   ///< at the point, on any rank
  bool anew_ = false;           ///< what follows the point is a new start
  bool jumped_ = false;         ///< at the point, from outside
  bool jumped_inside_ = false;  ///< in the last macro-step, in black boxes on any rank
  std::int64_t black_box_jumps_ = 0;
  std::vector<InputChange> changes_;
  StepReport report_;
  Effort rejected_;  ///< of the attempts at this macro-step that were not kept
  std::array<StepReport, 2> accepted_;
};

}  // namespace concord
