#include "subsystem/fmu/binary/fmi3_instance.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "concord/errors.hpp"
#include "subsystem/fmu/binary/fmi3.hpp"
#include "subsystem/fmu/binary/fmi3_functions.hpp"
#include "support/callback_guard.hpp"
#include "support/hex_text.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

/// A text that fits the type: the reader of the model file has made sure.
template <class Value>
Value value_of(const std::string& text) {
  if constexpr (std::is_same_v<Value, bool>) {
    return text == "true" || text == "1";
  } else {
    Value exact{};
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, exact).ptr == end) return exact;
    return rounded_to<Value>(parse_number(text).value_or(0.0));
  }
}

/// The access functions of a numeric type, given to `use`.
template <class Use>
bool with_access(const fmi3::Functions& f, FmiType type, Use&& use) {
  switch (type) {
    case FmiType::float32:
      return use(f.float32);
    case FmiType::int8:
      return use(f.int8);
    case FmiType::uint8:
      return use(f.uint8);
    case FmiType::int16:
      return use(f.int16);
    case FmiType::uint16:
      return use(f.uint16);
    case FmiType::int32:
      return use(f.int32);
    case FmiType::uint32:
      return use(f.uint32);
    case FmiType::int64:
    case FmiType::enumeration:
      return use(f.int64);
    case FmiType::uint64:
      return use(f.uint64);
    case FmiType::boolean:
      return use(f.boolean);
    default:
      return use(f.float64);
  }
}

class Fmi3Instance final : public FmuInstance, public ClockCalls {
 public:
  explicit Fmi3Instance(const FmuSource& source)
      : FmuInstance(source), f_(load_fmi3_functions(source_)) {
    const std::filesystem::path folder = source_.folder / "resources";
    const std::string path = std::filesystem::is_directory(folder) ? folder.string() + "/" : "";
    const char* resources = path.empty() ? nullptr : path.c_str();
    if (source_.role == FmuRole::co_simulation)
      instantiate_co_simulation(resources);
    else if (source_.role == FmuRole::scheduled_execution)
      instantiate_scheduled_execution(resources);
    else
      instantiate("fmi3InstantiateModelExchange", [&] {
        return f_.instantiate_model_exchange(
            source_.name.c_str(), source_.description->token.c_str(), resources, false, source_.log,
            static_cast<FmuInstance*>(this), log_message);
      });
  }
  ~Fmi3Instance() override { end(); }

  bool set_texts(const FmiVariable& variable, std::span<const std::string> values) override;

  ClockCalls* clock_calls() override { return this; }
  bool set_clocks(std::span<const FmiReference> clocks) override;
  bool get_clocks(std::span<const FmiReference> clocks, std::span<char> active) override;
  bool get_interval(FmiReference clock, bool as_fraction, ClockTime& interval,
                    IntervalQualifier& qualifier) override;
  bool get_shift(FmiReference clock, bool as_fraction, ClockTime& shift) override;
  bool activate_partition(FmiReference clock, double t) override;
  void on_clock_update(std::function<void()> callback) override {
    clock_update_ = std::move(callback);
  }

 private:
  void instantiate_co_simulation(const char* resources);
  void instantiate_scheduled_execution(const char* resources);
  bool tell_experiment(const Experiment& /*experiment*/) override { return true; }
  bool begin_initialization(const Experiment& experiment) override {
    return invoke(f_.enter_initialization_mode, experiment.has_tolerance(), experiment.tolerance,
                  experiment.start, experiment.has_stop(), experiment.told_stop());
  }
  bool update_discrete_states_once(EventOutcome& outcome, bool& again) override;
  StepEnd step(double time, double size, bool no_rollback, double& reached,
               bool& event_needed) override;
  StepEnd without_time();
  bool begin_configuration() override {
    source_.library->load(f_.enter_configuration_mode, "fmi3EnterConfigurationMode");
    return invoke(f_.enter_configuration_mode);
  }
  bool end_configuration() override {
    source_.library->load(f_.exit_configuration_mode, "fmi3ExitConfigurationMode");
    return invoke(f_.exit_configuration_mode);
  }
  bool begin_step_mode() override { return invoke(f_.enter_step_mode); }
  bool complete_step(bool no_rollback, bool& event, bool& terminate) override {
    event = terminate = false;
    return !f_.completed_integrator_step ||
           invoke(f_.completed_integrator_step, no_rollback, &event, &terminate);
  }
  bool set_group(const FmuPorts::Group& group, std::span<const double> values) override;
  bool write_texts(const FmiVariable& variable, std::span<const std::string> values) override;
  bool read_texts(const FmiVariable& variable, std::span<std::string> values) override;
  bool get_group(const FmuPorts::Group& group, std::span<double> values) override;
  bool directional_derivative(std::span<const FmiReference> unknowns,
                              std::span<const FmiReference> knowns, std::span<const double> seed,
                              std::span<double> sensitivity) override {
    return invoke_optional(f_.get_directional_derivative, unknowns.data(), unknowns.size(),
                           knowns.data(), knowns.size(), seed.data(), seed.size(),
                           sensitivity.data(), sensitivity.size());
  }
  /// FMI 3.0 has no such call.
  bool input_derivatives(std::span<const FmiReference> /*inputs*/, std::span<const int> /*orders*/,
                         std::span<const double> /*values*/) override {
    return false;
  }
  bool output_derivatives(std::span<const FmiReference> outputs, std::span<const int> orders,
                          std::span<double> values) override {
    return invoke_optional(f_.get_output_derivatives, outputs.data(), outputs.size(), orders.data(),
                           values.data(), values.size());
  }

  static void log_message(fmi3::Environment environment, fmi3::Status status,
                          fmi3::String /*category*/, fmi3::String message) {
    if (FmuInstance* instance = LiveInstance::at(environment))
      instance->take_message(status, message);
  }
  static void intermediate_update(fmi3::Environment environment, double time, bool set_requested,
                                  bool /*get_allowed*/, bool /*step_finished*/,
                                  bool /*can_return_early*/, bool* return_requested,
                                  double* /*return_time*/) {
    if (return_requested != nullptr) *return_requested = false;
    auto* const found = static_cast<Fmi3Instance*>(LiveInstance::at(environment));
    if (found == nullptr) return;
    Fmi3Instance& instance = *found;
    instance.guard_.run(0, [&] {
      if (set_requested && instance.intermediate_update_) instance.intermediate_update_(time);
      return 0;
    });
  }

  static void clock_update(fmi3::Environment environment) {
    auto* const instance = static_cast<Fmi3Instance*>(LiveInstance::at(environment));
    if (instance == nullptr) return;
    instance->guard_.run(0, [&] {
      if (instance->clock_update_) instance->clock_update_();
      return 0;
    });
  }
  /// Nothing is preempted: a model partition runs until it has ended.
  static void change_preemption() {}

  fmi3::Functions f_;
  CallbackGuard guard_;  ///< of the intermediate update and the clock update
  std::function<void()> clock_update_;
};

void Fmi3Instance::instantiate_co_simulation(const char* resources) {
  const FmiInterface& interface = source_.interface();
  std::vector<FmiReference> intermediate;
  for (const FmiVariable& variable : source_.description->variables)
    if (interface.intermediate_update && variable.intermediate_update &&
        variable.causality == FmiCausality::input)
      intermediate.push_back(variable.reference);
  instantiate("fmi3InstantiateCoSimulation", [&] {
    return f_.instantiate_co_simulation(
        source_.name.c_str(), source_.description->token.c_str(), resources, false, source_.log,
        source_.event_mode, source_.event_mode, intermediate.data(), intermediate.size(),
        static_cast<FmuInstance*>(this), log_message,
        interface.intermediate_update ? intermediate_update : nullptr);
  });
}

void Fmi3Instance::instantiate_scheduled_execution(const char* resources) {
  instantiate("fmi3InstantiateScheduledExecution", [&] {
    return f_.instantiate_scheduled_execution(
        source_.name.c_str(), source_.description->token.c_str(), resources, false, source_.log,
        static_cast<FmuInstance*>(this), log_message, clock_update, change_preemption,
        change_preemption);
  });
}

bool Fmi3Instance::set_clocks(std::span<const FmiReference> clocks) {
  if (!may(in_event, "SetClock")) return false;
  const std::span<bool> active = room<bool>(clocks.size());
  std::ranges::fill(active, true);
  return invoke(f_.set_clock, clocks.data(), clocks.size(), active.data());
}

bool Fmi3Instance::get_clocks(std::span<const FmiReference> clocks, std::span<char> active) {
  if (!may(in_event | in_activation, "GetClock")) return false;
  const std::span<bool> told = room<bool>(clocks.size());
  if (!invoke(f_.get_clock, clocks.data(), clocks.size(), told.data())) return false;
  std::ranges::copy(told, active.begin());
  return true;
}

bool Fmi3Instance::get_interval(FmiReference clock, bool as_fraction, ClockTime& interval,
                                IntervalQualifier& qualifier) {
  if (!may(in_initialization | in_event | in_activation, "GetInterval")) return false;
  ClockTime told;
  int known = 0;
  std::uint64_t counter = 0, resolution = 1;
  const bool good =
      as_fraction
          ? invoke(f_.get_interval_fraction, &clock, std::size_t{1}, &counter, &resolution, &known)
          : invoke(f_.get_interval_decimal, &clock, std::size_t{1}, &told.counter, &known);
  if (!good) return false;
  if (as_fraction) told = {static_cast<double>(counter), static_cast<double>(resolution)};
  qualifier = static_cast<IntervalQualifier>(known);
  if (qualifier != IntervalQualifier::not_yet_known) interval = told;
  return true;
}

bool Fmi3Instance::get_shift(FmiReference clock, bool as_fraction, ClockTime& shift) {
  if (!may(in_initialization, "GetShift")) return false;
  shift = {};
  if (!as_fraction) return invoke(f_.get_shift_decimal, &clock, std::size_t{1}, &shift.counter);
  std::uint64_t counter = 0, resolution = 1;
  if (!invoke(f_.get_shift_fraction, &clock, std::size_t{1}, &counter, &resolution)) return false;
  shift = {static_cast<double>(counter), static_cast<double>(resolution)};
  return true;
}

bool Fmi3Instance::activate_partition(FmiReference clock, double t) {
  note_time(t);
  if (!may(in_activation, "ActivateModelPartition")) return false;
  const int status = invoke_raw(f_.activate_model_partition, clock, t);
  guard_.rethrow();
  return passed(status, f_.activate_model_partition.name);
}

bool Fmi3Instance::set_texts(const FmiVariable& variable, std::span<const std::string> values) {
  if (variable.type == FmiType::string) return write_texts(variable, values);
  if (variable.type == FmiType::binary) {
    std::vector<std::string> bytes;
    for (const std::string& value : values) bytes.push_back(bytes_of_hex(value).value_or(""));
    return write_texts(variable, bytes);
  }
  return with_access(f_, variable.type, [&]<class Value>(const fmi3::Access<Value>& access) {
    const std::span<Value> typed = room<Value>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) typed[i] = value_of<Value>(values[i]);
    return invoke(access.set, &variable.reference, std::size_t{1}, typed.data(), typed.size());
  });
}

bool Fmi3Instance::write_texts(const FmiVariable& variable, std::span<const std::string> values) {
  std::vector<const char*> texts;
  std::vector<fmi3::Binary> bytes;
  std::vector<std::size_t> sizes;
  for (const std::string& value : values) {
    texts.push_back(value.c_str());
    bytes.push_back(reinterpret_cast<fmi3::Binary>(value.data()));
    sizes.push_back(value.size());
  }
  const FmiReference* const r = &variable.reference;
  if (variable.type == FmiType::string)
    return invoke(f_.string.set, r, std::size_t{1}, texts.data(), texts.size());
  return invoke(f_.set_binary, r, std::size_t{1}, sizes.data(), bytes.data(), bytes.size());
}

/// What the FMU points to is its own until the next call.
bool Fmi3Instance::read_texts(const FmiVariable& variable, std::span<std::string> values) {
  const std::size_t n = values.size();
  const FmiReference* const r = &variable.reference;
  if (variable.type == FmiType::string) {
    std::vector<const char*> texts(n);
    if (!invoke(f_.string.get, r, std::size_t{1}, texts.data(), n)) return false;
    for (std::size_t i = 0; i < n; ++i) values[i] = texts[i] != nullptr ? texts[i] : "";
    return true;
  }
  std::vector<fmi3::Binary> bytes(n);
  std::vector<std::size_t> sizes(n);
  if (!invoke(f_.get_binary, r, std::size_t{1}, sizes.data(), bytes.data(), n)) return false;
  for (std::size_t i = 0; i < n; ++i) {
    if (variable.most_bytes > 0 && sizes[i] > variable.most_bytes) {
      failure_ = f_.get_binary.name + " of the FMU " + source_.library->fmu() + " gives " +
                 std::to_string(sizes[i]) + " bytes of " + in_quotes(variable.name) +
                 ", whose maxSize is " + std::to_string(variable.most_bytes);
      return false;
    }
    values[i].assign(reinterpret_cast<const char*>(bytes[i]), bytes[i] != nullptr ? sizes[i] : 0);
  }
  return true;
}

bool Fmi3Instance::set_group(const FmuPorts::Group& group, std::span<const double> values) {
  const std::span<const FmiReference> r = group.references;
  return with_access(f_, group.type, [&]<class Value>(const fmi3::Access<Value>& access) {
    const std::span<const Value> typed = gathered<Value>(group, values);
    return invoke(access.set, r.data(), r.size(), typed.data(), typed.size());
  });
}

bool Fmi3Instance::get_group(const FmuPorts::Group& group, std::span<double> values) {
  const std::span<const FmiReference> r = group.references;
  return with_access(f_, group.type, [&]<class Value>(const fmi3::Access<Value>& access) {
    return scattered<Value>(group, values, [&](std::span<Value> typed) {
      return invoke(access.get, r.data(), r.size(), typed.data(), typed.size());
    });
  });
}

bool Fmi3Instance::update_discrete_states_once(EventOutcome& outcome, bool& again) {
  bool nominals = false, states = false, has_next = false;
  double next = 0.0;
  if (!invoke(f_.update_discrete_states, &again, &outcome.terminate, &nominals, &states, &has_next,
              &next))
    return false;
  outcome.states_changed = outcome.states_changed || states;
  outcome.next_time = has_next ? next : std::numeric_limits<double>::infinity();
  return true;
}

StepEnd Fmi3Instance::without_time() {
  failure_ = f_.do_step.name + " of the FMU " + source_.library->fmu() +
             " says that it has come to t = nan (lastSuccessfulTime)";
  return StepEnd::failed;
}

StepEnd Fmi3Instance::step(double time, double size, bool no_rollback, double& reached,
                           bool& event_needed) {
  bool terminate = false, early = false;
  double last = time + size;
  const int status =
      invoke_raw(f_.do_step, time, size, no_rollback, &event_needed, &terminate, &early, &last);
  guard_.rethrow();
  reached = time;
  if (!passed(status, f_.do_step.name)) [[unlikely]]
    return status == fmi3::discard ? StepEnd::discarded : StepEnd::failed;
  if (std::isnan(last)) return without_time();
  reached = early ? last : time + size;
  if (terminate) return StepEnd::terminated;
  const double allowed = std::max(1e-6 * size, 1.001 * source_.interface().fixed_internal_step);
  if (!early && !(std::abs(last - reached) <= allowed)) {
    failure_ = f_.do_step.name + " of the FMU " + source_.library->fmu() +
               " has come to t = " + short_number(last) + " s instead of " + short_number(reached) +
               " s, without returning early: its time drifts";
    return StepEnd::failed;
  }
  return early ? StepEnd::early : StepEnd::completed;
}

}  // namespace

std::unique_ptr<FmuInstance> make_fmi3_instance(const FmuSource& source) {
  return std::make_unique<Fmi3Instance>(source);
}

}  // namespace concord
