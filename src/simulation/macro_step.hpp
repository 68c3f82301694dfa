#pragma once

#include <memory>
#include <span>
#include <string>

#include "coupling/coupling.hpp"
#include "coupling/points/loop_watch.hpp"
#include "settings/settings.hpp"
#include "simulation/black_box_jumps.hpp"
#include "simulation/common_abilities.hpp"
#include "simulation/error_control.hpp"
#include "simulation/event_steps.hpp"
#include "simulation/grid_rows.hpp"
#include "simulation/memory_at_rest.hpp"
#include "simulation/outside_changes.hpp"
#include "simulation/step_reports.hpp"
#include "simulation/trial_feed.hpp"
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
  const ErrorAccount& errors() const { return errors_.account(); }
  /// At the stop: errors of this rank's outputs that nothing in the run tells. Throws
  /// SimulationError where they are as large as signals. Collective.
  void learn(std::span<const double> errors) { errors_.learn(point_, errors); }
  const EventSteps& events() const { return events_; }
  const OutsideChanges& changes() const { return changes_; }
  /// Of outputs whose subsystems don't tell, so far.
  std::int64_t black_box_jumps() const { return jumps_.total(); }

  /// A macro-step ends exactly at this time, if it is ahead.
  void stop_over(double time) { controller_->stop_over(time); }

  /// Something outside has changed at the communication point, the same on every rank: the next
  /// macro-step begins as after an event, with this rank's inputs `changes` that nothing feeds.
  void jump(std::span<const InputChange> changes) {
    changes_.add(changes);
    at_rest_.end();
  }

  /// What `jump` has said is taken now, with what happens then, instead. Collective.
  void take_changes();
  /// s: the earliest time at which something may yet be planned to happen, so that all before is as
  /// if it had been planned from the start.
  double earliest_plan() const { return controller_->earliest_exact(); }
  /// Something has been planned in a subsystem. Collective.
  void look_ahead() { events_.look_ahead(); }

  /// s: the next time, from here on, at which it is known that something happens; infinity: none.
  double next_event() const;

  /// All that the next macro-step depends on, beside the subsystems: of one that was started when
  /// it is written, of one that is new or has gone on when it is read.
  void io(Archive& archive);
  int memory_version() const { return 6; }

  /// One accepted macro-step, or two where the coupling takes them together, after as many rejected
  /// ones as it takes. Throws SimulationError, the same on every rank. Collective.
  std::span<const StepReport> advance();

  /// Of this rank's states at the communication point; NaN where they are not told exactly.
  void gather_state_slopes(std::span<double> result);

 private:
  MacroStep proposed() const;
  std::span<const double> recorded_slopes();
  double beginning(double unknown) const;
  SmoothInterval smooth_interval(double time) const;
  void look_for_events();
  void settle_start();
  void begin_step();
  void propose();
  void try_step(const MacroStep& step);
  CouplingStatus agreed(const CouplingReport& report) const;
  bool locates_event(const MacroStep& step);
  void look_inside(const MacroStep& step);
  bool acceptable() const;
  bool retry();
  bool goes_over_jump(const MacroStep& step);
  bool go_uncoupled(const MacroStep& step, double lead);
  double beginning_behind_break(double next) const;
  void take_back(Rejection reason);
  void require_progress(const MacroStep& step) const;
  [[noreturn]] void give_up(const MacroStep& step);
  void commit(const MacroStep& step);
  void account();
  bool is_new_start(const MacroStep& step) const;
  bool is_listed(double time) const;
  void touch_listed();
  void begin_anew(bool breaks);
  bool fits();
  void restart_coupling();

  const Settings& settings_;
  RankNetwork& subsystems_;
  CommonAbilities abilities_;
  std::unique_ptr<Coupling> coupling_;
  EventSteps events_;
  std::unique_ptr<StepController> controller_;
  LoopWatch loops_;
  ErrorControl errors_;
  BlackBoxJumps jumps_;
  GridRows grid_;
  CommunicationPoint point_;
  Trial trial_;
  TrialFeed feed_;
  OutsideChanges changes_;
  MemoryAtRest at_rest_;
  StepReports reports_;
  std::vector<double> state_slopes_;  ///< scratch
  bool kept_ = false;                 ///< the subsystems have saved where the macro-step begins
  double tried_first_ = 0.0;          ///< s, of the macro-step under way
};

}  // namespace concord
