#include "subsystem/fmu/fmi3_instance.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "concord/errors.hpp"
#include "subsystem/fmu/fmi3.hpp"
#include "subsystem/fmu/fmi3_functions.hpp"
#include "support/callback_guard.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using fmi3::Functions;

/// Numbers to and from the FMU's own type.
template <class Value>
fmi3::Status set_as(const fmi3::Access<Value>& access, fmi3::Instance instance,
                    const FmuPorts::Item& item, const double* values) {
  std::vector<Value> typed(item.count);
  for (std::size_t i = 0; i < item.count; ++i)
    typed[i] =
        static_cast<Value>(std::is_floating_point_v<Value> ? values[i] : std::nearbyint(values[i]));
  return access.set(instance, &item.reference, 1, typed.data(), typed.size());
}

template <>
fmi3::Status set_as(const fmi3::Access<bool>& access, fmi3::Instance instance,
                    const FmuPorts::Item& item, const double* values) {
  const auto typed = std::make_unique<bool[]>(item.count);
  for (std::size_t i = 0; i < item.count; ++i) typed[i] = values[i] != 0.0;
  return access.set(instance, &item.reference, 1, typed.get(), item.count);
}

template <class Value>
fmi3::Status get_as(const fmi3::Access<Value>& access, fmi3::Instance instance,
                    const FmuPorts::Item& item, double* values) {
  const auto typed = std::make_unique<Value[]>(item.count);
  const auto status = access.get(instance, &item.reference, 1, typed.get(), item.count);
  for (std::size_t i = 0; i < item.count; ++i) values[i] = static_cast<double>(typed[i]);
  return status;
}

/// Texts that fit the type: the reader of the model file has made sure.
template <class Value>
fmi3::Status set_texts_as(const fmi3::Access<Value>& access, fmi3::Instance instance,
                          const FmiVariable& variable, std::span<const std::string> texts) {
  const auto typed = std::make_unique<Value[]>(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    if constexpr (std::is_same_v<Value, bool>) {
      typed[i] = text == "true" || text == "1";
    } else {
      Value exact{};
      const char* end = text.data() + text.size();
      if (std::from_chars(text.data(), end, exact).ptr != end)
        exact = static_cast<Value>(parse_number(text).value_or(0.0));
      typed[i] = exact;
    }
  }
  return access.set(instance, &variable.reference, 1, typed.get(), texts.size());
}

/// The access functions of a numeric type, given to `use`.
template <class Use>
fmi3::Status with_access(const Functions& f, FmiType type, Use&& use) {
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

class Fmi3Instance final : public FmuInstance {
 public:
  explicit Fmi3Instance(const FmuSource& source)
      : FmuInstance(source), f_(load_fmi3_functions(source_)) {
    instantiate();
  }
  ~Fmi3Instance() override {
    --source_.library->instances;
    if (source_.library->is_dead()) return;
    if (initialized_ && !in_error_) f_.terminate(instance_);
    if (!source_.library->is_dead()) f_.free_instance(instance_);
  }

  bool set_texts(const FmiVariable& variable, std::span<const std::string> values) override;
  bool enter_configuration() override {
    source_.library->load(f_.enter_configuration_mode, "fmi3EnterConfigurationMode");
    return call(f_.enter_configuration_mode(instance_), "fmi3EnterConfigurationMode");
  }
  bool leave_configuration() override {
    source_.library->load(f_.exit_configuration_mode, "fmi3ExitConfigurationMode");
    return call(f_.exit_configuration_mode(instance_), "fmi3ExitConfigurationMode");
  }
  bool enter_initialization(double start, double stop, double tolerance) override {
    require_alive();
    return call(
        f_.enter_initialization_mode(instance_, tolerance > 0.0, tolerance, start, true, stop),
        "fmi3EnterInitializationMode");
  }
  bool leave_initialization() override {
    initialized_ = true;
    require_alive();
    return call(f_.exit_initialization_mode(instance_), "fmi3ExitInitializationMode");
  }
  bool enter_event_mode() override {
    require_alive();
    return call(f_.enter_event_mode(instance_), "fmi3EnterEventMode");
  }
  bool update_discrete_states(EventOutcome& outcome) override;
  bool enter_step_mode() override {
    require_alive();
    return call(f_.enter_step_mode(instance_), "fmi3EnterStepMode");
  }

  bool get_state(void*& state) override {
    require_alive();
    return call(f_.get_state(instance_, &state), "fmi3GetFMUState");
  }
  bool set_state(void* state) override {
    require_alive();
    in_error_ = false;
    return call(f_.set_state(instance_, state), "fmi3SetFMUState");
  }
  void free_state(void*& state) noexcept override {
    if (state != nullptr && !source_.library->is_dead()) f_.free_state(instance_, &state);
    state = nullptr;
  }
  bool serialize(void* state, std::vector<char>& bytes) override;
  bool deserialize(const std::vector<char>& bytes, void*& state) override {
    require_alive();
    return call(f_.deserialize(instance_, reinterpret_cast<const fmi3::Byte*>(bytes.data()),
                               bytes.size(), &state),
                "fmi3DeserializeFMUState");
  }
  bool directional_derivative(std::span<const FmiReference> unknowns,
                              std::span<const FmiReference> knowns, std::span<const double> seed,
                              std::span<double> sensitivity) override {
    require_alive();
    return call(f_.get_directional_derivative(instance_, unknowns.data(), unknowns.size(),
                                              knowns.data(), knowns.size(), seed.data(),
                                              seed.size(), sensitivity.data(), sensitivity.size()),
                "fmi3GetDirectionalDerivative");
  }
  bool set_input_derivatives(std::span<const FmiReference> /*inputs*/,
                             std::span<const int> /*orders*/,
                             std::span<const double> /*values*/) override {
    return true;
  }
  bool get_output_derivatives(std::span<const FmiReference> outputs, std::span<const int> orders,
                              std::span<double> values) override {
    require_alive();
    return call(f_.get_output_derivatives(instance_, outputs.data(), outputs.size(), orders.data(),
                                          values.data(), values.size()),
                "fmi3GetOutputDerivatives");
  }
  StepEnd do_step(double time, double size, bool no_rollback, double& reached,
                  bool& event_needed) override;

  bool enter_continuous_time() override {
    require_alive();
    return call(f_.enter_continuous_time_mode(instance_), "fmi3EnterContinuousTimeMode");
  }
  bool set_time(double time) override {
    require_alive();
    return call(f_.set_time(instance_, time), "fmi3SetTime");
  }
  bool set_states(std::span<const double> x) override {
    return x.empty() ||
           call(f_.set_continuous_states(instance_, x.data(), x.size()), "fmi3SetContinuousStates");
  }
  bool get_states(std::span<double> x) override {
    return x.empty() ||
           call(f_.get_continuous_states(instance_, x.data(), x.size()), "fmi3GetContinuousStates");
  }
  bool get_derivatives(std::span<double> dxdt) override {
    return dxdt.empty() || call(f_.get_derivatives(instance_, dxdt.data(), dxdt.size()),
                                "fmi3GetContinuousStateDerivatives");
  }
  bool get_event_indicators(std::span<double> z) override {
    return z.empty() ||
           call(f_.get_event_indicators(instance_, z.data(), z.size()), "fmi3GetEventIndicators");
  }
  bool completed_step(bool no_rollback, bool& event, bool& terminate) override;

 private:
  bool set_item(const FmuPorts::Item& item, const double* values) override;
  bool get_item(const FmuPorts::Item& item, double* values) override;
  bool set_float64(std::span<const FmiReference> references,
                   std::span<const double> values) override {
    require_alive();
    return call(f_.float64.set(instance_, references.data(), references.size(), values.data(),
                               values.size()),
                "fmi3SetFloat64");
  }
  bool get_float64(std::span<const FmiReference> references, std::span<double> values) override {
    require_alive();
    return call(f_.float64.get(instance_, references.data(), references.size(), values.data(),
                               values.size()),
                "fmi3GetFloat64");
  }
  void instantiate();
  void instantiate_co_simulation(const char* resources);
  static void log_message(fmi3::Environment self, fmi3::Status status, fmi3::String /*category*/,
                          fmi3::String message) {
    static_cast<Fmi3Instance*>(self)->messages_.take(status, message);
  }
  static void intermediate_update(fmi3::Environment self, double time, bool set_requested,
                                  bool /*get_allowed*/, bool /*step_finished*/,
                                  bool /*can_return_early*/, bool* return_requested,
                                  double* /*return_time*/) {
    auto& instance = *static_cast<Fmi3Instance*>(self);
    if (return_requested != nullptr) *return_requested = false;
    instance.guard_.run(0, [&] {
      if (set_requested && instance.intermediate_update_) instance.intermediate_update_(time);
      return 0;
    });
  }
  bool call(fmi3::Status status, const char* name) {
    if (status >= fmi3::error) [[unlikely]]
      in_error_ = true;
    return passed(status, name);
  }

  Functions f_;
  CallbackGuard guard_;  ///< of the intermediate update
  fmi3::Instance instance_ = nullptr;
  bool initialized_ = false;
  bool in_error_ = false;
};

void Fmi3Instance::instantiate() {
  const std::filesystem::path folder = source_.folder / "resources";
  const std::string path = std::filesystem::is_directory(folder) ? folder.string() + "/" : "";
  const char* resources = path.empty() ? nullptr : path.c_str();
  report_crashes_of_fmus();
  require_alive();
  if (source_.role == FmuRole::co_simulation)
    instantiate_co_simulation(resources);
  else
    instance_ =
        f_.instantiate_model_exchange(source_.name.c_str(), source_.description->token.c_str(),
                                      resources, false, source_.log, this, log_message);
  running_fmu = nullptr;
  if (instance_ == nullptr)
    fail_to_instantiate(source_.role == FmuRole::co_simulation ? "fmi3InstantiateCoSimulation"
                                                               : "fmi3InstantiateModelExchange");
  ++source_.library->instances;
}

void Fmi3Instance::instantiate_co_simulation(const char* resources) {
  const FmiInterface& interface = source_.interface();
  std::vector<FmiReference> intermediate;
  for (const FmiVariable& variable : source_.description->variables)
    if (interface.intermediate_update && variable.intermediate_update &&
        variable.causality == FmiCausality::input)
      intermediate.push_back(variable.reference);
  instance_ = f_.instantiate_co_simulation(
      source_.name.c_str(), source_.description->token.c_str(), resources, false, source_.log,
      interface.event_mode, interface.event_mode, intermediate.data(), intermediate.size(), this,
      log_message, interface.intermediate_update ? intermediate_update : nullptr);
}

bool Fmi3Instance::set_texts(const FmiVariable& variable, std::span<const std::string> values) {
  require_alive();
  if (variable.type == FmiType::string) {
    std::vector<const char*> texts;
    for (const std::string& value : values) texts.push_back(value.c_str());
    return call(f_.set_string(instance_, &variable.reference, 1, texts.data(), texts.size()),
                "fmi3SetString");
  }
  return call(with_access(f_, variable.type,
                          [&](const auto& access) {
                            return set_texts_as(access, instance_, variable, values);
                          }),
              "a function fmi3Set... for start values");
}

bool Fmi3Instance::set_item(const FmuPorts::Item& item, const double* values) {
  require_alive();
  return call(
      with_access(f_, item.type,
                  [&](const auto& access) { return set_as(access, instance_, item, values); }),
      (std::string("fmi3Set") + name_of(item.type)).c_str());
}

bool Fmi3Instance::get_item(const FmuPorts::Item& item, double* values) {
  require_alive();
  return call(
      with_access(f_, item.type,
                  [&](const auto& access) { return get_as(access, instance_, item, values); }),
      (std::string("fmi3Get") + name_of(item.type)).c_str());
}

bool Fmi3Instance::update_discrete_states(EventOutcome& outcome) {
  require_alive();
  bool again = false, nominals = false, states = false, has_next = false;
  double next = 0.0;
  do {
    if (!call(f_.update_discrete_states(instance_, &again, &outcome.terminate, &nominals, &states,
                                        &has_next, &next),
              "fmi3UpdateDiscreteStates"))
      return false;
    outcome.states_changed = outcome.states_changed || states;
  } while (again && !outcome.terminate);
  outcome.next_time = has_next ? next : std::numeric_limits<double>::infinity();
  return true;
}

bool Fmi3Instance::serialize(void* state, std::vector<char>& bytes) {
  require_alive();
  std::size_t size = 0;
  if (!call(f_.serialized_size(instance_, state, &size), "fmi3SerializedFMUStateSize"))
    return false;
  bytes.resize(size);
  return call(f_.serialize(instance_, state, reinterpret_cast<fmi3::Byte*>(bytes.data()), size),
              "fmi3SerializeFMUState");
}

StepEnd Fmi3Instance::do_step(double time, double size, bool no_rollback, double& reached,
                              bool& event_needed) {
  require_alive();
  bool terminate = false, early = false;
  double last = time + size;
  const fmi3::Status status =
      f_.do_step(instance_, time, size, no_rollback, &event_needed, &terminate, &early, &last);
  running_fmu = nullptr;
  guard_.rethrow();
  if (status > fmi3::warning) [[unlikely]] {
    reached = time;
    call(status, "fmi3DoStep");
    return status == fmi3::discard ? StepEnd::discarded : StepEnd::failed;
  }
  reached = early ? last : time + size;
  if (terminate) return StepEnd::terminated;
  return early ? StepEnd::early : StepEnd::completed;
}

bool Fmi3Instance::completed_step(bool no_rollback, bool& event, bool& terminate) {
  require_alive();
  event = terminate = false;
  if (f_.completed_integrator_step == nullptr) return true;
  return call(f_.completed_integrator_step(instance_, no_rollback, &event, &terminate),
              "fmi3CompletedIntegratorStep");
}

}  // namespace

std::unique_ptr<FmuInstance> make_fmi3_instance(const FmuSource& source) {
  return std::make_unique<Fmi3Instance>(source);
}

}  // namespace concord
