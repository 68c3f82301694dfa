#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "concord/errors.hpp"
#include "concord/simulation.hpp"
#include "simulation/file_prints.hpp"
#include "simulation/macro_step.hpp"
#include "simulation/simulation_plan.hpp"
#include "support/call_log.hpp"

namespace concord {

/// Who reads a snapshot: the ranks that have written it, in memory; or any number of them, from a
/// file, for which it comes apart by subsystems and says of which classes it is.
enum class SnapshotFor { these_ranks, any_ranks };

/// What is made anew on the way. Throws SimulationError where that has failed.
template <class T>
class Remade {
 public:
  bool there() const { return made_ != nullptr; }
  T& operator*() const {
    if (!made_)
      throw SimulationError("this simulation is over: its subsystems could not be made anew");
    return *made_;
  }
  T* operator->() const { return &**this; }
  void operator=(std::unique_ptr<T> made) { made_ = std::move(made); }

 private:
  std::unique_ptr<T> made_;
};

/// A model at work: its subsystems on this rank, and the macro-steps that move them. What every
/// user of the library has, the command line among them.
///
/// Every member function that isn't const is collective, and throws the same on every rank:
/// InputError, SimulationError, EndOfSimulation where a subsystem has asked for it.
class SimulationCore {
 public:
  /// Makes the subsystems and the coupling.
  explicit SimulationCore(std::unique_ptr<const SimulationPlan> plan);

  const SimulationPlan& plan() const { return *plan_; }
  /// Of the model's files, on the first rank, which reads them at the first call; else none.
  const std::vector<FilePrint>& file_prints();
  RankNetwork& subsystems() { return *subsystems_; }
  const RankNetwork& subsystems() const { return *subsystems_; }
  const MacroStepper& stepper() const { return *stepper_; }

  /// Sees every accepted macro-step from here on; must outlive the simulation or its last step.
  void observe(StepObserver& observer) { observers_.push_back(&observer); }
  void forget(const StepObserver& observer) { std::erase(observers_, &observer); }
  void forget_observers() { observers_.clear(); }
  std::size_t observers() const { return observers_.size(); }

  /// Before the start, of this rank's subsystems: begin where another run has left them.
  void start_from(std::vector<std::optional<Beginning>> beginnings);

  /// Consistent inputs and outputs at the start time.
  void start();

  bool finished() const { return has_parts() && stepper_->finished(); }
  double time() const { return has_parts() ? stepper_->point().time : lost_at_; }
  /// Not where the subsystems or the coupling could not be made anew.
  bool has_parts() const { return stepper_.there(); }
  /// Whether the last macro-step ended in an error.
  bool failed() const { return failed_; }

  /// Of this rank's subsystems; those of a subsystem that fails here are NaN. Not collective.
  void gather_states(std::span<double> result);
  /// Their slopes at the communication point; NaN where they are not told exactly.
  void gather_state_slopes(std::span<double> result);

  /// One accepted macro-step, or two that were taken together; the observers see them. Wall time in
  /// s.
  double advance();

  /// Macro-steps until the stop time, or until `go_on(wall time of the last)` says no.
  void advance_while(const std::function<bool(double)>& go_on);

  /// Throws what has gone wrong in a subsystem since the last macro-step was accepted, if anything.
  void require_sound_subsystems() const;

  /// Macro-steps end exactly at this time, if it is ahead.
  void stop_over(double time) { stepper_->stop_over(time); }

  /// At the communication point, the same on every rank.
  void read(std::span<const Variable> variables, std::span<double> result);

  /// A parameter that can be read: a tunable one of a subsystem, by its position there, or one of
  /// the model or a system, whose value stays what it was read as.
  struct Parameter {
    std::string name;
    std::size_t subsystem = 0, index = 0;
    std::optional<double> fixed{};
  };
  /// Not collective.
  const std::vector<Parameter>& parameters() const;

  /// What may be set by this name. Throws InputError. Not collective.
  Settable settable(const std::string& name) const;

  /// From here on, or, before the start, from the start on.
  void set(Settable what, double value, bool started);

  /// Parameters of a subsystem by which it plans what it does at a later time, and nothing before:
  /// the communication point stays what it is. Then `look_ahead`.
  void plan(Settable parameter, double value) {
    set_parameter(parameter.index(), parameter.subsystem(), value);
  }
  void look_ahead() { stepper_->look_ahead(); }

  /// What was set counts at once, and what happens then has happened, else in the next macro-step.
  void take_changes();

  /// What the next macro-step depends on, of this rank. What is only kept to save work (Jacobians,
  /// histories of multistep methods) is dropped here, too, so that this simulation and whoever
  /// restores go on with the same bits. Throws InputError where a subsystem cannot pass on what it
  /// remembers. What else is written to it belongs to the same point.
  Archive snapshot(SnapshotFor use);

  /// What this rank's subsystems themselves remember, for runs that start from it; no copy to go on
  /// from. Throws SimulationError.
  std::vector<std::vector<std::byte>> memories();

  /// Goes on from there, with the subsystems and the coupling that are there; they are made anew
  /// where something in them has failed, or parameters were set.
  void restore(Archive& archive);

  /// Goes on from here with subsystems and a coupling that are made anew. Throws as `snapshot`.
  void move_into_new();

  /// A snapshot that was taken on any number of ranks, of which this one has what is its own.
  Archive archive_of(Archive::Memory memory) const { return {layout_, std::move(memory)}; }

  /// As MacroStepper's.
  void learn(std::span<const double> errors) { stepper_->learn(errors); }

  /// Ends the subsystems, of which only names and counters are left.
  void end();

 private:
  void make_parts();
  void start_parts();
  Archive written(SnapshotFor use);
  void read(Archive& archive);
  bool can_go_on() const;
  double advanced();
  void in_step(const std::function<void()>& work);
  void set_input(std::size_t input, std::size_t subsystem, double value, bool started);
  void set_parameter(std::size_t parameter, std::size_t subsystem, double value);
  bool owns(std::size_t subsystem) const;
  Variable in_network(Variable written) const;
  double own_value(Variable variable);
  double read_value(Variable written);
  double read_parameter(std::size_t number);

  std::unique_ptr<const SimulationPlan> plan_;
  std::shared_ptr<CallLog> calls_;  ///< null: calls are not logged
  Remade<RankNetwork> subsystems_;
  Archive::Layout layout_;  ///< of subsystems_
  Remade<MacroStepper> stepper_;
  double lost_at_ = 0.0;  ///< s
  std::optional<std::vector<FilePrint>> file_prints_;
  mutable std::optional<std::vector<Parameter>> parameters_;  ///< none: nobody has asked
  std::vector<StepObserver*> observers_;
  int steps_ = 0;         ///< since the parts were made, where that counts
  bool started_ = false;  ///< the subsystems
  bool failed_ = false;
  bool parameters_set_ = false;  ///< which no memory takes back
};

}  // namespace concord
