#pragma once

#include <span>
#include <string>
#include <vector>

#include "subsystem/fmu/binary/instance.hpp"
#include "subsystem/fmu/clocks/clock_memory.hpp"
#include "subsystem/fmu/description/model_description.hpp"
#include "subsystem/fmu/description/ports.hpp"

namespace concord {

/// What an FMU's clocks may have to do with, all of which outlives them.
struct ClockedVariables {
  const ModelDescription& model;
  const std::vector<const FmiVariable*>&inputs, &outputs, &text_inputs, &text_outputs;
  std::string fmu;  ///< its path, for messages
};

/// The clocks of an FMU: when they tick, which inputs it gets then and which outputs change.
///
/// Between subsystems a clock travels as the number of ticks so far: an output clock counts its
/// own, and an input clock whose number has grown ticks. So ticks are held signals that change at
/// events, which the network passes on, takes back and saves like any other. What is clocked and a
/// text, or bytes, is a message at each tick: what an output clock announces arrives before the
/// input clock that is connected with it ticks, the first message with the first tick.
///
/// Inputs u and outputs y are flat arrays in the order of the lists that it is made with. Calls
/// that return bool give false where the FMU fails; what an FMU says of a clock that no clock can
/// do is SimulationError.
class FmuClocks {
 public:
  explicit FmuClocks(const ClockedVariables& variables);

  /// Whether there are none.
  bool empty() const { return inputs_.empty() && outputs_.empty(); }
  ClockMemory memory() const;
  /// Which inputs something feeds; the others stay as the FMU has them.
  void note_use(std::span<const char> fed);

  /// In initialisation mode, where clocked variables may be set and read.
  bool set_inputs(FmuInstance& instance, std::span<const double> u) const;
  bool read_outputs(FmuInstance& instance, ClockMemory& memory) const;
  /// At its end: when clocks tick first.
  bool begin(FmuInstance& instance, double start, ClockMemory& memory) const;

  /// The next tick that is known, s; infinity without one.
  double next(const ClockMemory& memory) const;
  /// Whether a triggered clock is to tick.
  bool called(std::span<const double> u, const ClockMemory& memory) const;

  /// In event mode at t: the event iteration, in which all tick that are due or called.
  bool iterate(FmuInstance& instance, double t, std::span<const double> u, ClockMemory& memory,
               EventOutcome& outcome) const;

  /// In scheduled execution at t: model partitions of all that are due or called, by priority, and
  /// of those that they call themselves.
  bool activate(FmuInstance& instance, double t, std::span<const double> u,
                ClockMemory& memory) const;

  /// u at the places that only ticks pass on: clocked inputs, and input clocks.
  template <class Values>
  void take(const Values& values, std::vector<double>& u) const {
    for (const std::size_t i : sampled_) u[i] = values(i);
  }
  /// y where only ticks change it.
  void give(const ClockMemory& memory, std::span<double> y) const {
    for (const std::size_t i : held_) y[i] = memory.held[i];
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// A text variable, and its first element among those of its causality.
  struct Text {
    const FmiVariable* variable;
    std::size_t first;
  };
  struct Clock {
    const FmiVariable* variable;
    std::size_t index;         ///< in the description
    std::size_t place = none;  ///< among inputs or outputs, where it travels
    std::size_t pace = none;   ///< of a time-based one
    std::size_t calls = none;  ///< of a triggered one
    std::size_t told = none;   ///< of a time-based one among outputs, where it travels, too
    FmuPorts clocked_inputs{}, clocked_outputs{};
    std::vector<Text> text_inputs{}, text_outputs{};
  };
  using Active = std::vector<char>;

  [[noreturn]] void fail(const Clock& clock, const std::string& problem, double t) const;
  void add_clocked(const std::vector<const FmiVariable*>& outputs);
  void add_texts(const ClockedVariables& variables);
  bool is_due(const Clock& clock, double t, std::span<const double> u,
              const ClockMemory& memory) const;
  void tick(const Clock& clock, std::size_t k, double t, std::span<const double> u,
            ClockMemory& memory) const;
  bool set_clocked(FmuInstance& instance, const std::vector<Clock>& clocks, const Active& active,
                   std::span<const double> u, ClockMemory& memory) const;
  static bool set_texts(FmuInstance& instance, const Clock& clock, std::size_t to_come,
                        ClockMemory& memory);
  bool get_ticks(FmuInstance& instance, const Active& active, Active& ticked,
                 ClockMemory& memory) const;
  bool get_clocked(FmuInstance& instance, const Active& active, const Active& ticked,
                   ClockMemory& memory) const;
  bool one_instant(FmuInstance& instance, const Active& active, std::span<const double> u,
                   ClockMemory& memory) const;
  bool ask_interval(FmuInstance& instance, const Clock& clock, double t, bool ticked,
                    ClockMemory& memory) const;
  bool ask_at_start(FmuInstance& instance, const Clock& clock, double start,
                    ClockMemory& memory) const;
  bool ask_countdowns(FmuInstance& instance, double t, ClockMemory& memory) const;
  bool ask(FmuInstance& instance, const Clock& clock, double t, ClockTime& interval,
           IntervalQualifier& qualifier) const;
  void check(const Clock& clock, const ClockTime& interval, double t) const;

  std::string fmu_;
  std::vector<Clock> inputs_, outputs_;  ///< input clocks by priority; output clocks
  const std::vector<const FmiVariable*>* input_variables_;
  FmiVersion version_;
  std::size_t n_paces_ = 0, n_calls_ = 0, n_outputs_ = 0;
  std::size_t n_text_inputs_ = 0, n_text_outputs_ = 0;  ///< elements
  std::vector<std::size_t> sampled_, held_;             ///< places among u and y
};

/// Whether the variable changes at ticks alone, or is a clock.
inline bool changes_at_ticks(const FmiVariable& variable) {
  return variable.clock.has_value() || !variable.clocks.empty();
}

/// A number of ticks is put out: of output clocks, and of those whose instants the FMU says though
/// they are inputs, where they announce texts or bytes.
inline bool puts_out_ticks(const FmiVariable& variable) {
  return variable.clock &&
         (variable.causality == FmiCausality::output ||
          (variable.causality == FmiCausality::input && variable.clock->announces));
}
/// A number of ticks is taken.
inline bool takes_ticks(const FmiVariable& variable) {
  return variable.clock && variable.causality == FmiCausality::input &&
         !variable.clock->is_time_based();
}
/// Numbers travel between subsystems, and clocks that other clocks can be connected with.
inline bool is_put_out(const FmiVariable& variable) {
  return variable.clock ? puts_out_ticks(variable)
                        : variable.causality == FmiCausality::output && is_number(variable.type);
}
inline bool is_taken(const FmiVariable& variable) {
  return variable.clock ? takes_ticks(variable)
                        : variable.causality == FmiCausality::input && is_number(variable.type);
}

bool has_clocks(const ModelDescription& model);

/// Why the FMU's clocks cannot tick in this role, with the remedy; empty: they can.
std::string why_no_ticks(const ModelDescription& model, FmuRole role);

/// "clock 'tick', input: every 0.1 s", of each.
std::vector<std::string> remarks_on_clocks(const ModelDescription& model, FmuRole role);

}  // namespace concord
