#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "network/exchange.hpp"
#include "network/held_inputs.hpp"
#include "network/inner_points.hpp"
#include "network/jump_watch.hpp"
#include "network/own_batches.hpp"
#include "network/own_subsystems.hpp"
#include "network/passed_way.hpp"
#include "network/rank_layout.hpp"
#include "network/scanned_outputs.hpp"
#include "network/signal_sizes.hpp"
#include "network/subsystem_use.hpp"
#include "network/text_exchange.hpp"
#include "network/touched.hpp"
#include "support/deadline.hpp"

namespace concord {

/// The subsystems that this rank owns, with their variables in flat arrays, and the exchange with
/// the other ranks. Outcomes are this rank's own: agreeing on them is the caller's. So are failures
/// (OwnSubsystems); `fatal` tells that no smaller step will help.
///
/// Most of its members are parts with classes of their own, which meet here only.
class RankNetwork {
 public:
  RankNetwork(MPI_Comm comm, const Model& model, const Network& network, const Partition& partition,
              const SettingsList& settings);
  MPI_Comm comm() const { return comm_; }
  const Network& network() const { return network_; }
  const Partition& partition() const { return partition_; }

  std::size_t n_own() const { return own_.count(); }
  std::size_t n_inputs() const { return layout_.n_inputs(); }
  std::size_t n_outputs() const { return layout_.n_outputs(); }
  std::size_t n_states() const { return layout_.n_states(); }
  Subsystem& own(std::size_t k) { return own_[k]; }
  const Subsystem& own(std::size_t k) const { return own_[k]; }
  const std::string& name(std::size_t k) const { return own_.name(k); }
  std::size_t global(std::size_t k) const { return layout_.global(k); }
  /// Of a subsystem of this rank.
  std::size_t local(std::size_t global) const { return layout_.local(global); }
  IndexRange inputs_of(std::size_t k) const { return layout_.inputs_of(k); }
  IndexRange outputs_of(std::size_t k) const { return layout_.outputs_of(k); }
  IndexRange states_of(std::size_t k) const { return layout_.states_of(k); }

  /// Position of a global input or output in its owner's arrays.
  std::size_t local_input(std::size_t global_input) const {
    return layout_.local_inputs()[global_input];
  }
  std::size_t local_output(std::size_t global_output) const {
    return layout_.local_outputs()[global_output];
  }

  /// Local indices of the inputs that a connection feeds and that move between events, ascending.
  const std::vector<std::size_t>& connected_inputs() const { return layout_.connected_inputs(); }

  /// Those that are held between events.
  const std::vector<std::size_t>& held_inputs() const { return layout_.held_inputs(); }

  /// From here on held inputs have these values in every macro-step, whatever holds say.
  void hold(std::span<const Sample> inputs) {
    held_.hold(inputs, [&](std::size_t input) { touch_owner(input); });
  }

  /// Own subsystems that the next new start reaches: those in which something has happened or that
  /// have jumped, whose held inputs or whose parameters have changed, and who is added.
  Touched& touched() { return touched_; }
  void touch_owner(std::size_t input);

  /// Start values of all inputs (zero where there is none); unconnected ones keep them for good.
  const std::vector<Sample>& start_inputs() const { return start_inputs_; }
  /// An input that nothing feeds is given values all the same; local index.
  void note_given(std::size_t input);
  /// All of those are, or somebody asks what follows from them.
  void note_all_given();

  /// Before the start: of one that nothing feeds, local index.
  void set_start_input(std::size_t input, double value) { start_inputs_[input] = {value, 0.0}; }

  void start(const MacroStep& first, double stop);

  /// Whether some own subsystem is still finding its start values; and their end for all, which has
  /// what events at the start make of them.
  bool initializing() const;
  void end_initialization(std::span<const Sample> inputs);

  /// The first pass over what happens at the start, of subsystems beside which others end their
  /// initialisation; as EventPass tells.
  struct FirstPass {
    std::vector<Sample> inputs, outputs;  ///< before it
    std::vector<double> states;
    std::vector<Happening> waiting, happened;
  };
  std::optional<FirstPass>& first_pass() { return first_pass_; }

  /// Where the subsystems stand.
  double time() const { return now_.time; }
  /// Size of the macro-step that led there; of the first one at the start.
  double step() const { return now_.step; }

  /// Of all own subsystems: what lies ahead, up to the next time event.
  void enter(const SmoothInterval& interval);
  const SmoothInterval& smooth_interval() const { return interval_; }

  /// Of own inputs and outputs (SignalSizes), local indices.
  const Sizes& input_sizes() const { return sizes_.inputs; }
  const Sizes& output_sizes() const { return sizes_.outputs; }

  /// Inputs and outputs at a communication point that was reached, `h` being the macro-step there.
  void see(std::span<const Sample> inputs, std::span<const Sample> outputs, double h) {
    sizes_.inputs.see(inputs, h);
    sizes_.outputs.see(outputs, h);
    weigh_equations(inputs);
  }

  /// Whether outputs of black boxes have jumped, on any rank, in the macro-step that was tried last
  /// and ends with these. Collective where there are black boxes.
  bool has_jumped(std::span<const Sample> outputs, double h, bool slopes_known) const;

  /// The macro-step that ends with these outputs is accepted: how many outputs of black boxes
  /// jumped in it, on all ranks, as JumpWatch::look counts them. Collective where there are black
  /// boxes.
  int count_jumps(std::span<const Sample> outputs, double h, bool slopes_known);

  /// Something has happened: what outputs did before says nothing about them.
  void forget_changes(std::span<const Sample> outputs) { jumps_.begin_anew(outputs); }

  void raise_sizes(std::span<const Sample> inputs, std::span<const Sample> outputs) {
    sizes_.inputs.raise(inputs);
    sizes_.outputs.raise(outputs);
  }

  /// |d gamma/dy| of own constraints by the outputs in their equations, where they were weighed
  /// last; local indices of inputs, 0 for all others.
  std::span<const double> equation_weights() const { return equation_weights_.values(); }
  void weigh_equations(std::span<const Sample> inputs);

  /// All own subsystems, 0 to n_own() - 1.
  std::span<const std::size_t> all() const { return layout_.all(); }

  /// Integrates own subsystems over the macro-step. All sizes are local: n_inputs, n_outputs.
  /// Curvatures may be wanted of those that offer them (Capabilities::output_curvatures).
  /// The outputs of a subsystem that fails are NaN; the others are advanced all the same.
  Outcome advance(std::span<const std::size_t> which, const MacroStep& step,
                  std::span<const Polynomial> inputs, InputContinuity continuity, Wanted wanted,
                  std::span<Sample> outputs);

  /// In place of `advance`, where the coupling has integrated: own subsystems have gone these ways,
  /// one for each, and stand at step.end.
  Outcome follow(const MacroStep& step, std::span<const Polynomial> inputs,
                 std::span<const IntegratedWay> ways);

  /// Curvatures of flagged outputs of own subsystem k (one flag each) at the ends of the next
  /// macro-steps are those of the cubics that leave `outputs` (whole local array).
  void take_end_curvatures(std::size_t k, std::span<const char> flags,
                           std::span<const Sample> outputs);

  /// Whether there are such outputs.
  bool has_stiff_outputs() const;

  /// The earliest of own subsystems (Subsystem::next_time_event, next_event); infinity without one.
  /// `inputs`: whole local array, or empty.
  double next_time_event() const;
  double next_event(std::span<const Sample> inputs);

  /// One pass of own subsystems over what happens (Subsystem::happen), but of those that are still
  /// finding their start values; `part`: which of them. Whole local array of inputs.
  Outcome happen(EventPass pass, std::span<const Sample> inputs, double slack, bool& changed,
                 std::vector<Happening>& what);

  /// Outputs of the own subsystem k at the current communication point; whole local arrays.
  Outcome point_outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs);

  /// g_u of own subsystem k at the current communication point, row-major; false where it offers no
  /// linearisation there. Whole local array of inputs.
  bool feedthrough(std::size_t k, std::span<const Sample> inputs, std::vector<double>& g_u);

  /// Those with the same equations, which may be asked together.
  std::span<const SubsystemBatch> batches() const { return batches_.all(); }

  /// Where own subsystems have been within a macro-step (PassedWay): asked for ahead, told once it
  /// is accepted.
  PassedWay& passed_way() { return way_; }
  const PassedWay& passed_way() const { return way_; }
  InnerPoints& inner_points() { return inner_; }
  ScannedOutputs& scanned_outputs() { return scanned_; }

  /// Of those subsystems that offer rollback.
  void save() {
    saved_ = now_;
    own_.save(clock_);
  }
  void restore() {
    now_ = saved_;
    own_.restore(clock_);
  }

  /// inputs = P outputs. Collective.
  void exchange(std::span<const Sample> outputs, std::span<Sample> inputs) {
    const PhaseScope scope(clock_, Phase::exchange);
    exchange_.apply(outputs, inputs);
  }
  /// Sets at least `wanted`, own connected inputs.
  void exchange(std::span<const Sample> outputs, std::span<const std::size_t> wanted,
                std::span<Sample> inputs) {
    const PhaseScope scope(clock_, Phase::exchange);
    exchange_.apply(outputs, wanted, inputs);
  }

  /// The same of texts and bytes, at a communication point that is not taken back: whether one has
  /// become another, on any rank. Throws SimulationError on every rank. Collective, but free where
  /// no subsystem has any.
  bool exchange_texts() { return texts_ && texts_->exchange(touched_); }
  void begin_instant_of_texts() {
    if (texts_) texts_->begin_instant();
  }
  /// Null where no subsystem, of any rank, has any.
  const TextExchange* texts() const { return texts_.get(); }

  /// Those of a subsystem that fails here are NaN.
  void gather_states(std::span<double> result);
  /// Their slopes, with the inputs there; of subsystems that don't tell them exactly NaN.
  void gather_state_slopes(std::span<const Sample> inputs, std::span<double> result);

  /// Before the start, of own subsystems: begin elsewhere than at their start values.
  void start_from(std::vector<std::optional<Beginning>> beginnings) {
    own_.start_from(std::move(beginnings));
  }

  /// All that the next macro-step depends on: of subsystems that were started, which may have gone
  /// on since when it is read. Which own subsystem cannot pass on what it remembers, the first one,
  /// and why, or nothing. `states`: of all own subsystems, where the coupling has them; empty:
  /// their own.
  std::optional<std::string> io(Archive& archive, std::span<const double> states = {});
  ArchiveLayout archive_layout() const { return layout_.archive_layout(); }

  /// Where this rank's time goes.
  WorkClock& clock() { return clock_; }
  const WorkClock& clock() const { return clock_; }

  /// By when a macro-step's iteration is to end.
  Deadline& deadline() { return deadline_; }

  /// What own subsystem k has cost so far.
  Counters counters(std::size_t k) const;

  /// Frees the subsystems, of which only names and counters are left. What fails is told by
  /// `failure`.
  void end() { own_.end(); }

  /// "subsystem 'left': ..." of the subsystem on this rank whose last call has failed, or nothing.
  std::optional<std::string> failure() const { return own_.failure(); }
  /// Calls `work`, which asks own subsystem k about the communication point where it stands; its
  /// failure in words where it throws, which then is fatal.
  template <class Work>
  std::optional<std::string> at_point(std::size_t k, Work&& work) {
    own_.attempt(k, work);
    return fatal() ? failure() : std::nullopt;
  }

  /// Calls `work`, which asks own subsystem k what it would do elsewhere; its failure in words
  /// where it throws. Should k throw again when it must act, this was the reason.
  template <class Work>
  std::optional<std::string> asking(std::size_t k, Work&& work) {
    return own_.asking(k, work);
  }

  /// Sets a tunable parameter of own subsystem k at the communication point where it stands; its
  /// failure in words where it refuses.
  std::optional<std::string> set_parameter(std::size_t k, std::size_t parameter, double value);

  bool fatal() const { return own_.fatal(); }

  /// Whether that was EndOfSimulation.
  bool asks_for_end() const { return own_.asks_for_end(); }

 private:
  struct Memory {
    double time = 0.0;
    double step = 0.0;

    void io(Archive& archive) { CONCORD_MEMBERS(archive, time, step); }
  };

  /// Kept for their storage only.
  struct Scratch {
    Linearization linearization;
    std::vector<double> constraint_g_u;
    std::vector<Happening> happened;
    std::vector<Sample> end_inputs;  ///< of one subsystem
    std::vector<double> curvatures;
  };
  /// y'' of outputs at the end of the macro-step, from both ends where flags say so.
  struct EndCurvatures {
    std::vector<char> from_ends;
    std::vector<Sample> begin;
  };
  Outcome find_curvatures(std::size_t k, std::span<const Sample> inputs, std::span<Sample> outputs);
  Outcome find_end_curvatures(std::span<const std::size_t> which, double h,
                              std::span<const Polynomial> inputs, std::span<Sample> outputs);

  MPI_Comm comm_;
  const Network& network_;
  const Partition& partition_;
  RankLayout layout_;
  WorkClock clock_;
  Deadline deadline_;
  OwnSubsystems own_;
  OwnBatches batches_;
  HeldInputs held_;
  std::optional<FirstPass> first_pass_;
  std::vector<Sample> start_inputs_;
  SubsystemUse use_;
  Touched touched_;
  SignalSizes sizes_;
  EquationWeights equation_weights_;
  JumpWatch jumps_;
  Exchange exchange_;
  std::unique_ptr<TextExchange> texts_;  ///< null: there are none
  SmoothInterval interval_;
  Memory now_, saved_;
  PassedWay way_;
  InnerPoints inner_;
  ScannedOutputs scanned_;
  EndCurvatures end_curvatures_;  ///< empty: from the subsystems alone
  Scratch scratch_;
};

}  // namespace concord
