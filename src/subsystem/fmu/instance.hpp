#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "subsystem/fmu/crash_report.hpp"
#include "subsystem/fmu/library.hpp"
#include "subsystem/fmu/model_description.hpp"

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

/// One instance of an FMU: the C interface of both versions under one roof.
///
/// Calls that return bool give false where the FMU reports discard or error; `failure()` says which
/// call and why. After an error only `set_state` may follow. Fatal throws SimulationError, as does
/// every call after it on any instance of the same FMU.
class FmuInstance {
 public:
  /// Throws SimulationError where the FMU cannot be instantiated.
  static std::unique_ptr<FmuInstance> make(const FmuSource& source);

  virtual ~FmuInstance() = default;
  FmuInstance(const FmuInstance&) = delete;
  FmuInstance& operator=(const FmuInstance&) = delete;

  const std::string& failure() const { return failure_; }

  /// Whether the last failed call returned discard: other arguments may help.
  bool last_was_discard() const { return last_was_discard_; }

  bool set(const FmuPorts& ports, std::span<const double> values);
  bool get(const FmuPorts& ports, std::span<double> values);

  /// Start values as texts, one per element.
  virtual bool set_texts(const FmiVariable& variable, std::span<const std::string> values) = 0;
  virtual bool enter_configuration() = 0;
  virtual bool leave_configuration() = 0;

  virtual bool enter_initialization(double start, double stop, double tolerance) = 0;
  virtual bool leave_initialization() = 0;

  /// Co-simulation: into event mode (FMI 3), the iteration there, and back.
  virtual bool enter_event_mode() = 0;
  virtual bool update_discrete_states(EventOutcome& outcome) = 0;
  virtual bool enter_step_mode() = 0;

  virtual bool get_state(void*& state) = 0;
  virtual bool set_state(void* state) = 0;
  virtual void free_state(void*& state) noexcept = 0;
  virtual bool serialize(void* state, std::vector<char>& bytes) = 0;
  virtual bool deserialize(const std::vector<char>& bytes, void*& state) = 0;

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
  virtual StepEnd do_step(double time, double size, bool no_rollback, double& reached,
                          bool& event_needed) = 0;

  /// FMI 3: called back within do_step with the time for which inputs are wanted; what it throws,
  /// do_step throws.
  void on_intermediate_update(std::function<void(double)> callback) {
    intermediate_update_ = std::move(callback);
  }

  // model exchange
  virtual bool enter_continuous_time() = 0;
  virtual bool set_time(double time) = 0;
  virtual bool set_states(std::span<const double> x) = 0;
  virtual bool get_states(std::span<double> x) = 0;
  virtual bool get_derivatives(std::span<double> dxdt) = 0;
  virtual bool get_event_indicators(std::span<double> z) = 0;
  virtual bool completed_step(bool no_rollback, bool& event, bool& terminate) = 0;

 protected:
  explicit FmuInstance(const FmuSource& source);

  virtual bool set_item(const FmuPorts::Item& item, const double* values) = 0;
  virtual bool get_item(const FmuPorts::Item& item, double* values) = 0;
  virtual bool set_float64(std::span<const FmiReference> references,
                           std::span<const double> values) = 0;
  virtual bool get_float64(std::span<const FmiReference> references, std::span<double> values) = 0;

  /// Judges what a call returned. `call` is the name in the standard.
  bool passed(int status, const char* call) {
    running_fmu = nullptr;
    if (status <= 1) [[likely]]
      return true;
    judge(status, call);
    return false;
  }
  void judge(int status, const char* call);

  /// Throws where no call is allowed any more; to be called before every call.
  void require_alive() const {
    if (source_.library->is_dead()) [[unlikely]]
      throw_dead();
    running_fmu = source_.library->fmu().c_str();
  }
  [[noreturn]] void throw_dead() const;
  [[noreturn]] void fail_to_instantiate(const char* call) const;

  FmuSource source_;
  FmuMessages messages_;
  std::string failure_;
  bool last_was_discard_ = false;
  std::function<void(double)> intermediate_update_;
};

}  // namespace concord
