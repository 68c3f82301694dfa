#pragma once

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "network/exchange.hpp"
#include "network/network.hpp"
#include "signal/sizes.hpp"
#include "support/foreign_call.hpp"

namespace concord {

/// Settings of each subsystem of the model, by position.
using SettingsList = std::vector<SubsystemSettings>;

/// The subsystems that this rank owns, with their variables in flat arrays, and the exchange with
/// the other ranks. Outcomes are this rank's own: agreeing on them is the caller's.
///
/// An exception out of a subsystem is kept and reported as a failure, so that the other ranks don't
/// wait; so is a crash of its code. `fatal` tells that no smaller step will help.
class RankNetwork {
 public:
  RankNetwork(MPI_Comm comm, const Model& model, const Network& network, const Partition& partition,
              const SettingsList& settings);
  ~RankNetwork();
  RankNetwork(const RankNetwork&) = delete;
  RankNetwork& operator=(const RankNetwork&) = delete;

  MPI_Comm comm() const { return comm_; }
  const Network& network() const { return network_; }
  const Partition& partition() const { return partition_; }

  std::size_t n_own() const { return subsystems_.size(); }
  std::size_t n_inputs() const { return input_offset_.back(); }
  std::size_t n_outputs() const { return output_offset_.back(); }
  std::size_t n_states() const { return state_offset_.back(); }
  Subsystem& own(std::size_t k) { return *subsystems_[k]; }
  const Subsystem& own(std::size_t k) const { return *subsystems_[k]; }
  std::size_t global(std::size_t k) const { return global_[k]; }
  /// Of a subsystem of this rank.
  std::size_t local(std::size_t global) const {
    return static_cast<std::size_t>(std::lower_bound(global_.begin(), global_.end(), global) -
                                    global_.begin());
  }
  IndexRange inputs_of(std::size_t k) const { return {input_offset_[k], input_offset_[k + 1]}; }
  IndexRange outputs_of(std::size_t k) const { return {output_offset_[k], output_offset_[k + 1]}; }

  IndexRange states_of(std::size_t k) const { return {state_offset_[k], state_offset_[k + 1]}; }

  /// Position of a global input or output in its owner's arrays.
  std::size_t local_input(std::size_t global_input) const { return input_local_[global_input]; }
  std::size_t local_output(std::size_t global_output) const { return output_local_[global_output]; }

  /// Local indices of the inputs that a connection feeds and that move between events, ascending.
  const std::vector<std::size_t>& connected_inputs() const { return connected_; }

  /// Those that are held between events.
  const std::vector<std::size_t>& held_inputs() const { return held_; }

  /// From here on held inputs have these values in every macro-step, whatever holds say.
  void hold(std::span<const Sample> inputs);

  /// Start values of all inputs (zero where there is none); unconnected ones keep them for good.
  const std::vector<Sample>& start_inputs() const { return start_inputs_; }
  /// An input that nothing feeds is given values all the same; local index.
  void note_given(std::size_t input);

  /// Before the start: of one that nothing feeds, local index.
  void set_start_input(std::size_t input, double value) { start_inputs_[input] = {value, 0.0}; }

  void start(const MacroStep& first, double stop);

  /// Whether some own subsystem is still finding its start values; and their end for all.
  bool initializing() const;
  void end_initialization(std::span<const Sample> inputs);

  /// Where the subsystems stand.
  double time() const { return time_; }
  /// Size of the macro-step that led there; of the first one at the start.
  double step() const { return step_; }

  /// Of all own subsystems: what lies ahead, up to the next time event.
  void enter(const SmoothInterval& interval);
  const SmoothInterval& smooth_interval() const { return interval_; }

  /// Of own inputs and outputs, local indices. An input without a nominal value of its own has that
  /// of the output which feeds it.
  const Sizes& input_sizes() const { return input_sizes_; }
  const Sizes& output_sizes() const { return output_sizes_; }

  /// Inputs and outputs at a communication point that was reached, `h` being the macro-step there.
  void see(std::span<const Sample> inputs, std::span<const Sample> outputs, double h) {
    input_sizes_.see(inputs, h);
    output_sizes_.see(outputs, h);
    weigh_equations(inputs);
  }

  void raise_sizes(std::span<const Sample> inputs, std::span<const Sample> outputs) {
    input_sizes_.raise(inputs);
    output_sizes_.raise(outputs);
  }

  /// |d gamma/dy| of own constraints by the outputs in their equations, where they were weighed
  /// last; local indices of inputs, 0 for all others.
  std::span<const double> equation_weights() const { return equation_weights_; }
  void weigh_equations(std::span<const Sample> inputs);

  /// All own subsystems, 0 to n_own() - 1.
  std::span<const std::size_t> all() const { return all_; }

  /// Integrates own subsystems over the macro-step. All sizes are local: n_inputs, n_outputs.
  /// The outputs of a subsystem that fails are NaN; the others are advanced all the same.
  Outcome advance(std::span<const std::size_t> which, const MacroStep& step,
                  std::span<const Polynomial> inputs, InputContinuity continuity, Wanted wanted,
                  std::span<Sample> outputs);

  /// Outputs of the own subsystem k at the current communication point; whole local arrays.
  Outcome point_outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs);

  /// g_u of own subsystem k at the current communication point, row-major; false where it offers no
  /// linearisation there. Whole local array of inputs.
  bool feedthrough(std::size_t k, std::span<const Sample> inputs, std::vector<double>& g_u);

  /// Of those subsystems that offer rollback.
  void save();
  void restore();

  /// inputs = P outputs. Collective.
  void exchange(std::span<const Sample> outputs, std::span<Sample> inputs) {
    exchange_.apply(outputs, inputs);
  }
  /// Sets at least `wanted`, own connected inputs.
  void exchange(std::span<const Sample> outputs, std::span<const std::size_t> wanted,
                std::span<Sample> inputs) {
    exchange_.apply(outputs, wanted, inputs);
  }

  /// Those of a subsystem that fails here are NaN.
  void gather_states(std::span<double> result);

  /// All that the next macro-step depends on: of subsystems that were started when it is written,
  /// and of others, made and started in the same way, when it is read. Which own subsystem cannot
  /// pass on what it remembers, the first one, and why, or nothing.
  std::optional<std::string> io(Archive& archive);

  /// What own subsystem k has cost so far.
  Counters counters(std::size_t k) const {
    return k < last_counters_.size() ? last_counters_[k] : subsystems_[k]->counters();
  }

  /// Frees the subsystems, of which only names and counters are left. What fails is told by
  /// `failure`.
  void end();

  /// "subsystem 'left': ..." of the subsystem on this rank whose last call has failed, or nothing.
  std::optional<std::string> failure() const;
  /// Calls `work`, which asks own subsystem k about the communication point where it stands; its
  /// failure in words where it throws, which then is fatal.
  template <class Work>
  std::optional<std::string> at_point(std::size_t k, Work&& work) {
    attempt(k, work);
    return fatal_ ? failure() : std::nullopt;
  }

  /// Calls `work`, which asks own subsystem k what it would do elsewhere; its failure in words
  /// where it throws. Should k throw again when it must act, this was the reason.
  template <class Work>
  std::optional<std::string> asking(std::size_t k, Work&& work) {
    if (fatal_) [[unlikely]] {
      return failure();
    }
    try {
      surviving(work);
      return std::nullopt;
    } catch (...) {
      return threw_when_asked(k);
    }
  }

  /// Sets a tunable parameter of own subsystem k at the communication point where it stands; its
  /// failure in words where it refuses.
  std::optional<std::string> set_parameter(std::size_t k, std::size_t parameter, double value);

  bool fatal() const { return fatal_ != nullptr; }

  /// Whether that was EndOfSimulation.
  bool asks_for_end() const;

 private:
  void find_use(const SettingsList& settings);
  void tell_use(std::size_t k);
  /// `work` on own subsystem k, which it may move on. Once a subsystem has thrown, none is called
  /// any more.
  template <class Work>
  void attempt(const std::size_t& k, const Work& work) {
    if (fatal_) [[unlikely]] {
      return;
    }
    try {
      surviving(work);
    } catch (...) {
      fatal_ = suspicion_ && suspect_ == k ? suspicion_ : std::current_exception();
      failed_ = k;
    }
  }
  template <class Call>
  Outcome guarded(std::size_t k, const Call& call);
  Outcome judged(std::size_t k, Outcome outcome);
  std::string threw_when_asked(std::size_t k);

  MPI_Comm comm_;
  const Network& network_;
  const Partition& partition_;
  std::vector<std::unique_ptr<Subsystem>> subsystems_;
  std::vector<std::string> names_;
  std::vector<Counters> last_counters_;
  std::vector<std::size_t> global_;
  std::vector<std::size_t> all_, with_rollback_;
  std::vector<std::size_t> input_offset_{0}, output_offset_{0}, state_offset_{0};
  std::vector<std::size_t> input_local_, output_local_;
  std::vector<std::size_t> connected_, held_;
  std::vector<double> held_values_;
  std::vector<Polynomial> fed_;  ///< with held inputs only
  std::vector<Sample> start_inputs_;
  std::vector<char> given_inputs_, looked_at_;  ///< see Subsystem::note_use
  Sizes input_sizes_, output_sizes_;
  std::vector<std::size_t> own_constraints_;
  std::vector<double> equation_weights_;
  std::vector<double> g_u_;
  Exchange exchange_;
  SmoothInterval interval_;
  double time_ = 0.0;
  double step_ = 0.0;
  double saved_time_ = 0.0;
  Linearization linearization_;
  std::exception_ptr fatal_;
  std::exception_ptr suspicion_;
  std::size_t suspect_ = 0;
  std::optional<std::size_t> failed_;
};

}  // namespace concord
