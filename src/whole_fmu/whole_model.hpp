#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "concord/errors.hpp"
#include "concord/simulation.hpp"
#include "export/whole_interface.hpp"
#include "simulation/direct_feedthrough.hpp"

namespace concord {

/// Where an instance of an FMU is in its life.
enum class WholePhase { instantiated, initializing, stepping, terminated, failed, event };

/// What the importer does with events (FMI 3): it handles them itself, in event mode; steps may end
/// where one comes.
struct EventUse {
  bool mode = false;
  bool early_return = false;
};

/// How a step has ended.
struct StepOutcome {
  bool event = false;  ///< that event mode is to handle, with left limits until then
  bool early = false;  ///< before the end that was asked for
};

/// A subsystem has asked for the end: the step ended early, and there is none behind it.
class EndedEarly : public SimulationError {
 public:
  using SimulationError::SimulationError;
};

/// What the importer has said of the experiment. Times in s.
struct WholeExperiment {
  double start = 0.0;
  std::optional<double> stop;  ///< none: it may go on for as long as anybody likes
  std::optional<double> accuracy;

  bool operator==(const WholeExperiment&) const = default;
};

/// A value of the variable at a position of the interface.
struct WholeValue {
  std::size_t position = 0;
  double value = 0.0;

  bool operator==(const WholeValue&) const = default;
};

/// All that an instance remembers.
struct WholeState {
  WholePhase phase = WholePhase::instantiated;
  WholeExperiment experiment;
  std::vector<WholeValue> starts;   ///< given until initialisation has ended
  std::vector<WholeValue> settled;  ///< inputs and parameters that were set since then
  std::vector<WholeValue> waiting;  ///< those of them that the next step begins with
  /// Of the network, before the event in which the last step has ended; empty: there is none.
  std::vector<double> left_outputs, left_states;
  std::optional<Snapshot> snapshot;
};

/// An instance of an FMU of a whole model, whatever the version of FMI: a Simulation on this
/// process alone. Values are those of the interface's variables, by position.
///
/// Functions throw InputError where a call is wrong, SimulationError where the simulation fails;
/// behind that only `restore`, `reset` and the destructor make sense.
class WholeModel {
 public:
  /// `resources`: the unpacked FMU's folder of that name.
  WholeModel(const std::filesystem::path& resources, const std::string& token,
             EventUse events = {});

  WholePhase phase() const { return state_.phase; }
  /// s
  double time() const;
  /// What is known of the run's error that its importer ought to know; told once.
  std::string take_warning();

  void set_up(const WholeExperiment& experiment);
  void begin_initialization();
  void end_initialization();
  void terminate();
  void reset();

  void set(std::span<const unsigned> references, const double* values);
  void get(std::span<const unsigned> references, double* values);

  /// The unknowns' derivatives by the knowns, times `seed` (one number for each known), where the
  /// model stands; and the other way round, one number for each unknown.
  void derive(std::span<const unsigned> unknowns, std::span<const unsigned> knowns,
              const double* seed, double* result);
  void derive_adjoint(std::span<const unsigned> unknowns, std::span<const unsigned> knowns,
                      const double* seed, double* result);

  /// From `time`, where it is, on to exactly `time + size`, or to an event. Throws EndedEarly.
  StepOutcome step(double time, double size);

  void enter_event_mode();
  /// What was set counts, and what it makes happen has happened. The next time at which it is known
  /// that something happens, s; none.
  std::optional<double> update_discrete_states();
  void enter_step_mode();

  WholeState saved();
  void restore(const WholeState& state);
  std::vector<std::byte> bytes_of(const WholeState& state) const;
  WholeState state_of(std::span<const std::byte> bytes) const;

 private:
  std::size_t position(unsigned reference) const;
  void require(std::initializer_list<WholePhase> phases, const char* remedy) const;
  void set_start(WholeValue given);
  void set_later(WholeValue given);
  double known(std::size_t position) const;
  void need_start();
  double first_stop() const;
  void make(double stop);
  void forget_places();
  void forget_point();
  void settle();
  const CommunicationPoint& point();
  std::size_t place_in_network(std::size_t position);
  std::optional<double> left_limit(std::size_t position);
  bool take_left_limits();
  void forget_left_limits();
  const DirectFeedthrough& feedthrough();
  std::optional<Eigen::Index> output_to_derive(unsigned reference);
  Eigen::Index input_to_derive_by(unsigned reference);
  void go_beyond(double time);
  void look_at_quality();
  double estimate();
  void find_all();
  Variable found(std::size_t position);

  WholeInterface interface_;
  EventUse events_;
  Options options_;
  ModelSource model_;
  WholeState state_;
  std::unique_ptr<Simulation> simulation_;          ///< null: not yet
  WholeExperiment made_for_;                        ///< of the simulation
  std::vector<WholeValue> made_with_;               ///< its starts
  bool at_start_ = false;                           ///< it has not left that
  std::vector<std::optional<Variable>> found_;      ///< in it, by position; empty: not looked for
  std::vector<std::optional<Settable>> settable_;   ///< likewise
  std::optional<CommunicationPoint> with_waiting_;  ///< with inputs that are set; none: not known
  std::optional<DirectFeedthrough> feedthrough_;    ///< there
  std::string warning_;
};

}  // namespace concord
