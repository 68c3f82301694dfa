#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "subsystem/fmu/binary/clock_calls.hpp"
#include "subsystem/fmu/binary/common_functions.hpp"
#include "subsystem/fmu/binary/emulated_functions.hpp"
#include "subsystem/fmu/binary/library.hpp"
#include "subsystem/fmu/binary/live_instances.hpp"
#include "subsystem/fmu/binary/logged_call.hpp"
#include "subsystem/fmu/description/model_description.hpp"
#include "subsystem/fmu/description/ports.hpp"
#include "support/foreign_call.hpp"

namespace concord {

enum class FmuRole { co_simulation, model_exchange, scheduled_execution };

/// Of an FMU that offers the role.
inline const FmiInterface& interface_of(const ModelDescription& model, FmuRole role) {
  if (role == FmuRole::co_simulation) return *model.co_simulation;
  return role == FmuRole::model_exchange ? *model.model_exchange : *model.scheduled_execution;
}

/// What an FMU has to say: its last warning or error, and, if wanted, its messages on stderr.
struct FmuMessages {
  std::string instance;
  bool print = false;
  int printed = 0;    ///< lines
  int unprinted = 0;  ///< like the last line, or one too many
  std::string last, last_printed;

  /// `status` as in all versions: 1 warning, 2 discard, 3 error, 4 fatal. Never throws.
  void take(int status, const char* text) noexcept;
  /// How many have not been printed since the last line, in one line.
  void count() noexcept;
};

/// What makes an instance.
struct FmuSource {
  std::shared_ptr<FmuLibrary> library;
  std::shared_ptr<const ModelDescription> description;
  std::filesystem::path folder;
  std::string name;  ///< of the instance
  FmuRole role = FmuRole::co_simulation;
  bool event_mode = false;  ///< co-simulation is to use it
  bool stop_time = true;    ///< is told
  bool log = false;
  std::shared_ptr<CallLog> calls{};  ///< where they are logged; null: nowhere

  const FmiInterface& interface() const { return interface_of(*description, role); }
};

/// Where fmiDoStep, fmi2DoStep, fmi3DoStep ended.
enum class StepEnd { completed, early, discarded, terminated, failed };

/// What an event iteration brought.
struct EventOutcome {
  bool states_changed = false;
  bool terminate = false;
  double next_time = std::numeric_limits<double>::infinity();  ///< infinity: none
};

/// Where an instance is in the standards' state machines. `failed`: after error, from where only a
/// saved state leads back. `activating`: model partitions, in scheduled execution.
enum class FmuMode {
  instantiated,
  configuring,
  initializing,
  event,
  continuous_time,
  stepping,
  over,
  failed,
  activating
};

/// As a set of one mode.
constexpr unsigned only(FmuMode mode) { return 1U << static_cast<unsigned>(mode); }

class FmuInstance;

/// The state of an instance as it was saved; freed with this object, which the instance outlives.
class FmuSnapshot {
 public:
  explicit FmuSnapshot(FmuInstance& instance) : instance_(instance) {}
  ~FmuSnapshot();
  FmuSnapshot(const FmuSnapshot&) = delete;
  FmuSnapshot& operator=(const FmuSnapshot&) = delete;

 private:
  friend class FmuInstance;
  FmuInstance& instance_;
  void* state_ = nullptr;
  FmuMode mode_ = FmuMode::instantiated;
};

/// A number as a variable of an integer type takes it: rounded, and kept within the type's limits.
template <class Value>
Value rounded_to(double number) {
  if constexpr (std::is_same_v<Value, bool>) {
    return std::nearbyint(number) != 0.0;
  } else if constexpr (std::is_floating_point_v<Value>) {
    return static_cast<Value>(number);
  } else {
    constexpr Value least = std::numeric_limits<Value>::min();
    constexpr Value most = std::numeric_limits<Value>::max();
    const double whole = std::nearbyint(number);
    if (!(whole > static_cast<double>(least))) return least;
    return whole >= static_cast<double>(most) ? most : static_cast<Value>(whole);
  }
}

/// One instance of an FMU: the C interface of all versions under one roof. Modes that FMI 1.0 does
/// not have are entered without a call.
///
/// Calls that return bool give false where the FMU reports discard or error; `failure()` says which
/// call and why. After an error nothing is called any more until `restore`; all calls return false
/// and the failure stays. Optional calls (directional and output derivatives, derivatives of
/// inputs, saving) may fail without that. Calls in a mode that forbids them are std::logic_error.
/// Fatal throws SimulationError, as does every call after it on any instance of the same FMU. A
/// member is the instance's state, or room that the calls of all versions share.
class FmuInstance {
 public:
  /// Throws SimulationError where the FMU cannot be instantiated.
  static std::unique_ptr<FmuInstance> make(const FmuSource& source);

  virtual ~FmuInstance();
  FmuInstance(const FmuInstance&) = delete;
  FmuInstance& operator=(const FmuInstance&) = delete;

  /// The last failed call, what it returned and the FMU's own words; the time is not in it.
  const std::string& failure() const { return failure_; }

  /// " at t = 0.5 s" of the last call that told the FMU a time, or " before the start".
  std::string when() const;

  /// What the FMU says in a callback. Never throws.
  void take_message(int status, const char* text) noexcept { messages_.take(status, text); }

  /// Whether the last failed call returned discard: other arguments may help.
  bool last_was_discard() const { return last_was_discard_; }

  FmuMode mode() const { return mode_; }

  /// `values` are the flat array that the ports' places refer to.
  bool set(const FmuPorts& ports, std::span<const double> values);
  bool get(const FmuPorts& ports, std::span<double> values);
  /// The same where the FMU may refuse and go on.
  bool get_if_it_can(const FmuPorts& ports, std::span<double> values);

  /// Start values as texts, one per element; bytes in hexadecimal digits.
  virtual bool set_texts(const FmiVariable& variable, std::span<const std::string> values) = 0;
  /// Of a String or Binary, as they are, one per element; false, too, where what the FMU gives is
  /// longer than it says.
  bool put_texts(const FmiVariable& variable, std::span<const std::string> values);
  /// The FMU may refuse and go on.
  bool get_texts(const FmiVariable& variable, std::span<std::string> values);
  bool enter_configuration();
  bool leave_configuration();

  /// The experiment, which FMI 2 is told first: some FMUs take back there what was set before.
  bool set_up_experiment(double start, double stop, double tolerance);
  bool enter_initialization();
  bool leave_initialization();

  bool enter_event_mode();

  /// The event iteration, in event mode.
  bool update_discrete_states(EventOutcome& outcome);

  /// One round of it: ends the super-dense instant in which clocks tick.
  bool end_instant(EventOutcome& outcome, bool& again) {
    return may(in_event, "the event iteration") && update_discrete_states_once(outcome, again);
  }

  /// The calls of clocks; null where the version has none.
  virtual ClockCalls* clock_calls() { return nullptr; }

  /// From event mode to step mode (co-simulation) or continuous-time mode.
  bool leave_event_mode();

  bool save(FmuSnapshot& snapshot);
  bool restore(const FmuSnapshot& snapshot);
  bool serialize(const FmuSnapshot& snapshot, std::vector<char>& bytes);
  /// The state of a like instance in this mode.
  bool deserialize(const std::vector<char>& bytes, FmuMode mode, FmuSnapshot& snapshot);

  /// result[i * columns + j] = d (element i) / d (element j) for the places of all continuous reals
  /// of both ports; other entries are 0. Rows and columns are as many as the flat arrays have.
  bool partial(const FmuPorts& unknowns, std::size_t rows, const FmuPorts& knowns,
               std::size_t columns, std::span<double> result);

  /// sensitivity = sum over all continuous reals of d unknowns / d knowns * seed; all of them flat
  /// arrays.
  bool directional(const FmuPorts& unknowns, const FmuPorts& knowns, std::span<const double> seed,
                   std::span<double> sensitivity);

  // co-simulation
  /// Derivatives of one order of all continuous reals of the ports.
  bool set_input_derivatives(const FmuPorts& inputs, int order, std::span<const double> values);
  /// First derivatives of all continuous reals of the ports.
  bool get_output_derivatives(const FmuPorts& outputs, std::span<double> values);
  StepEnd do_step(double time, double size, bool no_rollback, double& reached, bool& event_needed);

  /// FMI 3: called back within do_step with the time for which inputs are wanted; what it throws,
  /// do_step throws.
  void on_intermediate_update(std::function<void(double)> callback) {
    intermediate_update_ = std::move(callback);
  }

  // model exchange
  bool set_time(double time) {
    place_.time = time;
    return may(in_event | in_continuous_time, common_.set_time.name.c_str()) &&
           invoke(common_.set_time, time);
  }
  bool set_states(std::span<const double> x) {
    return x.empty() || (may(in_continuous_time, common_.set_continuous_states.name.c_str()) &&
                         invoke(common_.set_continuous_states, x.data(), x.size()));
  }
  bool get_states(std::span<double> x) {
    return x.empty() ||
           (may(in_event | in_continuous_time, common_.get_continuous_states.name.c_str()) &&
            invoke(common_.get_continuous_states, x.data(), x.size()));
  }
  bool get_derivatives(std::span<double> dxdt) {
    return dxdt.empty() ||
           (may(in_event | in_continuous_time, common_.get_derivatives.name.c_str()) &&
            invoke(common_.get_derivatives, dxdt.data(), dxdt.size()));
  }
  bool get_event_indicators(std::span<double> z) {
    return z.empty() ||
           (may(in_event | in_continuous_time, common_.get_event_indicators.name.c_str()) &&
            invoke(common_.get_event_indicators, z.data(), z.size()));
  }
  /// FMI 1.0: which variables the states are; false where the FMU does not say.
  virtual bool state_references(std::span<FmiReference> /*references*/) { return false; }
  bool completed_step(bool no_rollback, bool& event, bool& terminate) {
    return may(in_continuous_time, "CompletedIntegratorStep") &&
           complete_step(no_rollback, event, terminate);
  }

 protected:
  explicit FmuInstance(const FmuSource& source);

  /// Terminates and frees the instance; for the destructors of derived classes, whose members the
  /// FMU may still use, and before it is instantiated anew.
  void end() noexcept;

  /// What the FMU is told of the run: `stop` infinite and `tolerance` 0 are none.
  struct Experiment {
    double start = 0.0, stop = std::numeric_limits<double>::infinity(), tolerance = 0.0;

    bool has_stop() const { return std::isfinite(stop); }
    double told_stop() const { return has_stop() ? stop : 0.0; }
    bool has_tolerance() const { return tolerance > 0.0; }
  };
  /// FMI 2 is told it before initialisation mode, FMI 3 where it enters it.
  virtual bool tell_experiment(const Experiment& experiment) = 0;
  virtual bool begin_initialization(const Experiment& experiment) = 0;
  virtual bool exit_initialization() { return invoke(common_.exit_initialization_mode); }
  virtual bool is_to_be_terminated() const { return (only(mode_) & while_running) != 0; }
  virtual bool update_discrete_states_once(EventOutcome& outcome, bool& again) = 0;
  virtual StepEnd step(double time, double size, bool no_rollback, double& reached,
                       bool& event_needed) = 0;
  virtual bool complete_step(bool no_rollback, bool& event, bool& terminate) = 0;
  virtual bool begin_configuration() = 0;
  virtual bool end_configuration() = 0;
  virtual bool begin_step_mode() = 0;
  virtual bool write_texts(const FmiVariable& variable, std::span<const std::string> values) = 0;
  virtual bool read_texts(const FmiVariable& variable, std::span<std::string> values) = 0;
  virtual bool set_group(const FmuPorts::Group& group, std::span<const double> values) = 0;
  virtual bool get_group(const FmuPorts::Group& group, std::span<double> values) = 0;
  virtual bool directional_derivative(std::span<const FmiReference> unknowns,
                                      std::span<const FmiReference> knowns,
                                      std::span<const double> seed,
                                      std::span<double> sensitivity) = 0;
  virtual bool input_derivatives(std::span<const FmiReference> inputs, std::span<const int> orders,
                                 std::span<const double> values) = 0;
  virtual bool output_derivatives(std::span<const FmiReference> outputs,
                                  std::span<const int> orders, std::span<double> values) = 0;

  /// Room for `count` values, kept from call to call.
  template <class Value>
  std::span<Value> room(std::size_t count) {
    if (room_.size() < count) room_.resize(count);
    static_assert(sizeof(Value) <= sizeof(room_[0]) && alignof(Value) <= alignof(std::uint64_t));
    return {reinterpret_cast<Value*>(room_.data()), count};
  }

  /// The entries of `values` at the group's places, as numbers of its type.
  template <class Value>
  std::span<const Value> gathered(const FmuPorts::Group& group, std::span<const double> values) {
    if constexpr (std::is_same_v<Value, double>)
      if (group.in_a_row) return values.subspan(group.places.front(), group.places.size());
    const std::span<Value> typed = room<Value>(group.places.size());
    for (std::size_t i = 0; i < typed.size(); ++i)
      typed[i] = rounded_to<Value>(values[group.places[i]]);
    return typed;
  }

  /// `call(typed)` fills the group's values, which go to their places.
  template <class Value, class Call>
  bool scattered(const FmuPorts::Group& group, std::span<double> values, Call&& call) {
    if constexpr (std::is_same_v<Value, double>)
      if (group.in_a_row) return call(values.subspan(group.places.front(), group.places.size()));
    const std::span<Value> typed = room<Value>(group.places.size());
    if (!call(typed)) return false;
    for (std::size_t i = 0; i < typed.size(); ++i)
      values[group.places[i]] = static_cast<double>(typed[i]);
    return true;
  }

  /// Calls `function` and judges what it returns.
  template <class... Parameters, class... Arguments>
  bool invoke(const FmiFunction<Parameters...>& function, Arguments... arguments) {
    return passed(invoke_raw(function, arguments...), function.name);
  }

  /// The same for what an FMU may refuse and go on.
  template <class... Parameters, class... Arguments>
  bool invoke_optional(const FmiFunction<Parameters...>& function, Arguments... arguments) {
    const FmuMode before = mode_;
    const bool good = invoke(function, arguments...);
    mode_ = before;
    return good;
  }

  /// The same without judging.
  template <class... Parameters, class... Arguments>
  int invoke_raw(const FmiFunction<Parameters...>& function, Arguments... arguments) {
    const Running running(*this, function.name.c_str());
    try {
      if (source_.calls) [[unlikely]]
        return call_logged(function, std::tuple<Parameters...>(arguments...));
      return function.call(handle_, arguments...);
    } catch (...) {
      throw_thrown(function.name.c_str());
    }
  }

  /// FMI 1.0 and 2.0: pending.
  StepEnd goes_on_in_background(const std::string& call);

  /// The same after discard: what `get` says of `last_successful`, where it lies inside the step,
  /// else `time`.
  template <class Kind>
  double last_time(const FmiFunction<Kind, double*>& get, Kind last_successful, double time,
                   double size) {
    double last = time;
    const bool inside =
        get && invoke_raw(get, last_successful, &last) == 0 && last > time && last < time + size;
    return inside ? last : time;
  }

  const CommonFunctions& common() const { return common_; }

  bool passed(int status, const std::string& call) {
    if (status <= 1) [[likely]] {
      messages_.last.clear();  // a warning is no reason of a later error
      return true;
    }
    judge(status, call);
    return false;
  }

  /// handle_ = the instance that `instantiate` gives; throws SimulationError without one.
  template <class Instantiate>
  void instantiate(const char* call, Instantiate&& instantiate_it) {
    watch_foreign_code();
    {
      const Running running(*this, call);
      const EmulatedInstantiation elsewhere(source_.library->emulated());
      try {
        LoggedCall logged(source_.calls.get(), called(), call, instantiation_in_words());
        handle_ = instantiate_it();
        logged.returned(handle_ == nullptr ? "null" : "ok");
      } catch (...) {
        throw_thrown(call);
      }
    }
    if (handle_ == nullptr) fail_to_instantiate(call);
  }

  static constexpr unsigned in_event = only(FmuMode::event);
  static constexpr unsigned in_continuous_time = only(FmuMode::continuous_time);
  static constexpr unsigned in_step = only(FmuMode::stepping);
  static constexpr unsigned before_start = only(FmuMode::instantiated);
  static constexpr unsigned in_initialization = only(FmuMode::initializing);
  static constexpr unsigned in_activation = only(FmuMode::activating);
  static constexpr unsigned while_running = in_event | in_continuous_time | in_step | in_activation;

  /// Whether the mode is one of `modes`; false after an error, else a mistake of ours.
  bool may(unsigned modes, const char* call) const {
    if ((only(mode_) & modes) != 0) [[likely]]
      return true;
    if (mode_ != FmuMode::failed) throw_misuse(call);
    return false;
  }
  /// For messages.
  void note_time(double time) { place_.time = time; }

  FmuSource source_;
  FmuMessages messages_;
  std::function<void(double)> intermediate_update_;
  std::string failure_;

 private:
  /// While it lives, `function` of this instance runs. Throws where no call is allowed.
  class Running {
   public:
    Running(const FmuInstance& instance, const char* function)
        : call_(instance.callable_place(), function) {}

   private:
    ForeignCall call_;
  };
  const ForeignPlace& callable_place() const {
    if (source_.library->is_dead()) [[unlikely]]
      throw_dead();
    return place_;
  }

  template <class... Parameters>
  int call_logged(const FmiFunction<Parameters...>& function,
                  const std::tuple<Parameters...>& arguments) {
    const auto work = [&](const Parameters&... each) {
      const std::array<CallArgument, sizeof...(Parameters)> all{shown(each)...};
      LoggedCall logged(source_.calls.get(), called(), function.name,
                        arguments_in_words(function.name, all, false));
      const int status = function.call(handle_, each...);
      logged.returned(word_for(status),
                      status <= 1 ? arguments_in_words(function.name, all, true) : "");
      return status;
    };
    return std::apply(work, arguments);
  }
  CalledInstance called() const { return {source_.name, number_}; }
  std::string instantiation_in_words() const;
  static const char* word_for(int status);
  bool change(unsigned from, FmuMode to, const FmiFunction<>& function);
  void free_state(void*& state) noexcept;
  friend class FmuSnapshot;
  [[noreturn]] void throw_misuse(const char* call) const;
  void judge(int status, const std::string& call);
  [[noreturn]] void throw_dead() const;
  [[noreturn]] void throw_thrown(const char* call) const;
  [[noreturn]] void fail_to_instantiate(const char* call) const;

  CommonFunctions common_;
  int number_;  ///< of the instances of this process
  ForeignPlace place_;
  LiveInstance live_{*this, place_};
  void* handle_ = nullptr;
  FmuMode mode_ = FmuMode::instantiated;
  Experiment experiment_;
  bool fed_ = false;  ///< an input was set in step mode: no Get before the next step
  bool last_was_discard_ = false;
  std::vector<std::uint64_t> room_;
  std::vector<double> seed_, sensitivity_;
  std::vector<int> orders_;
};

}  // namespace concord
