#pragma once

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "subsystem/fmu/common_functions.hpp"
#include "subsystem/fmu/library.hpp"
#include "subsystem/fmu/live_instances.hpp"
#include "subsystem/fmu/model_description.hpp"
#include "support/foreign_call.hpp"

namespace concord {

enum class FmuRole { co_simulation, model_exchange };

/// Variables that are read or written together as numbers (booleans as 0 and 1); arrays are spread.
class FmuPorts {
 public:
  struct Item {
    FmiType type;
    FmiReference reference;
    std::size_t first, count;  ///< elements
  };

  void add(const FmiVariable& variable);

  std::size_t size() const { return size_; }
  bool all_float64() const { return all_float64_; }
  std::span<const FmiReference> references() const { return references_; }
  std::span<const Item> items() const { return items_; }

 private:
  std::vector<FmiReference> references_;
  std::vector<Item> items_;
  std::size_t size_ = 0;
  bool all_float64_ = true;
};

/// What an FMU has to say: its last warning or error, and, if wanted, its messages on stderr.
struct FmuMessages {
  std::string instance;
  bool print = false;
  int printed = 0;
  std::string last;

  /// `status` as in both versions: 1 warning, 2 discard, 3 error, 4 fatal. Never throws.
  void take(int status, const char* text) noexcept;
};

/// What makes an instance.
struct FmuSource {
  std::shared_ptr<FmuLibrary> library;
  std::shared_ptr<const ModelDescription> description;
  std::filesystem::path folder;
  std::string name;  ///< of the instance
  FmuRole role = FmuRole::co_simulation;
  bool log = false;

  const FmiInterface& interface() const {
    return role == FmuRole::co_simulation ? *description->co_simulation
                                          : *description->model_exchange;
  }
};

/// Where fmi2DoStep, fmi3DoStep ended.
enum class StepEnd { completed, early, discarded, terminated, failed };

/// What an event iteration brought.
struct EventOutcome {
  bool states_changed = false;
  bool terminate = false;
  double next_time;  ///< infinity: none
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

/// One instance of an FMU: the C interface of both versions under one roof.
///
/// Calls that return bool give false where the FMU reports discard or error; `failure()` says which
/// call and why. After an error only `set_state` may follow. Fatal throws SimulationError, as does
/// every call after it on any instance of the same FMU.
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

  bool set(const FmuPorts& ports, std::span<const double> values);
  bool get(const FmuPorts& ports, std::span<double> values);

  /// Start values as texts, one per element.
  virtual bool set_texts(const FmiVariable& variable, std::span<const std::string> values) = 0;
  virtual bool enter_configuration() = 0;
  virtual bool leave_configuration() = 0;

  bool enter_initialization(double start, double stop, double tolerance);
  bool leave_initialization();

  bool enter_event_mode() { return invoke(common_.enter_event_mode); }

  /// The event iteration, in event mode.
  bool update_discrete_states(EventOutcome& outcome);

  /// Co-simulation (FMI 3): from event mode back to step mode.
  virtual bool enter_step_mode() = 0;

  bool get_state(void*& state) { return invoke(common_.get_state, &state); }
  bool set_state(void* state);
  void free_state(void*& state) noexcept;
  bool serialize(void* state, std::vector<char>& bytes);
  bool deserialize(const std::vector<char>& bytes, void*& state) {
    return invoke(common_.deserialize, bytes.data(), bytes.size(), &state);
  }

  /// sensitivity = d unknowns / d knowns * seed.
  virtual bool directional_derivative(std::span<const FmiReference> unknowns,
                                      std::span<const FmiReference> knowns,
                                      std::span<const double> seed,
                                      std::span<double> sensitivity) = 0;

  // co-simulation
  virtual bool set_input_derivatives(std::span<const FmiReference> inputs,
                                     std::span<const int> orders,
                                     std::span<const double> values) = 0;
  virtual bool get_output_derivatives(std::span<const FmiReference> outputs,
                                      std::span<const int> orders, std::span<double> values) = 0;
  StepEnd do_step(double time, double size, bool no_rollback, double& reached, bool& event_needed) {
    place_.time = time;
    return step(time, size, no_rollback, reached, event_needed);
  }

  /// FMI 3: called back within do_step with the time for which inputs are wanted; what it throws,
  /// do_step throws.
  void on_intermediate_update(std::function<void(double)> callback) {
    intermediate_update_ = std::move(callback);
  }

  // model exchange
  bool enter_continuous_time() { return invoke(common_.enter_continuous_time_mode); }
  bool set_time(double time) {
    place_.time = time;
    return invoke(common_.set_time, time);
  }
  bool set_states(std::span<const double> x) {
    return x.empty() || invoke(common_.set_continuous_states, x.data(), x.size());
  }
  bool get_states(std::span<double> x) {
    return x.empty() || invoke(common_.get_continuous_states, x.data(), x.size());
  }
  bool get_derivatives(std::span<double> dxdt) {
    return dxdt.empty() || invoke(common_.get_derivatives, dxdt.data(), dxdt.size());
  }
  bool get_event_indicators(std::span<double> z) {
    return z.empty() || invoke(common_.get_event_indicators, z.data(), z.size());
  }
  virtual bool completed_step(bool no_rollback, bool& event, bool& terminate) = 0;

 protected:
  explicit FmuInstance(const FmuSource& source);

  /// Terminates and frees the instance; for the destructors of derived classes, whose members the
  /// FMU may still use.
  void end() noexcept;

  virtual bool begin_initialization(double start, double stop, double tolerance) = 0;
  virtual bool update_discrete_states_once(EventOutcome& outcome, bool& again) = 0;
  virtual StepEnd step(double time, double size, bool no_rollback, double& reached,
                       bool& event_needed) = 0;
  virtual bool set_item(const FmuPorts::Item& item, const double* values) = 0;
  virtual bool get_item(const FmuPorts::Item& item, double* values) = 0;
  virtual bool set_float64(std::span<const FmiReference> references,
                           std::span<const double> values) = 0;
  virtual bool get_float64(std::span<const FmiReference> references, std::span<double> values) = 0;

  /// Calls `function` and judges what it returns.
  template <class... Parameters, class... Arguments>
  bool invoke(const FmiFunction<Parameters...>& function, Arguments... arguments) {
    return passed(invoke_raw(function, arguments...), function.name);
  }

  /// The same without judging.
  template <class... Parameters, class... Arguments>
  int invoke_raw(const FmiFunction<Parameters...>& function, Arguments... arguments) {
    const Running running(*this, function.name.c_str());
    try {
      return function.call(handle_, arguments...);
    } catch (...) {
      throw_thrown(function.name.c_str());
    }
  }

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
      try {
        handle_ = instantiate_it();
      } catch (...) {
        throw_thrown(call);
      }
    }
    if (handle_ == nullptr) fail_to_instantiate(call);
  }

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

  void judge(int status, const std::string& call);
  [[noreturn]] void throw_dead() const;
  [[noreturn]] void throw_thrown(const char* call) const;
  [[noreturn]] void fail_to_instantiate(const char* call) const;

  CommonFunctions common_;
  ForeignPlace place_;
  LiveInstance live_{*this, place_};
  void* handle_ = nullptr;
  bool initialized_ = false;
  bool in_error_ = false;
  bool last_was_discard_ = false;
};

}  // namespace concord
