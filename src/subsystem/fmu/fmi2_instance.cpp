#include "subsystem/fmu/fmi2_instance.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "concord/errors.hpp"
#include "subsystem/fmu/fmi2.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using fmi2::Functions;

std::string file_uri(const std::filesystem::path& path) {
  std::string uri = "file://";
  for (const unsigned char c : path.string()) {
    const bool plain = std::isalnum(c) != 0 || c == '/' || c == '-' || c == '_' || c == '.';
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", c);
    uri += plain ? std::string(1, static_cast<char>(c)) : code;
  }
  return uri;
}

void log_message(fmi2::Environment messages, fmi2::String /*instance*/, fmi2::Status status,
                 fmi2::String /*category*/, fmi2::String format, ...) {
  char text[1024] = "";
  std::va_list arguments;
  va_start(arguments, format);
  if (format != nullptr) std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  static_cast<FmuMessages*>(messages)->take(status, text);
}

void load_common(const FmuLibrary& library, Functions& f) {
  library.load(f.instantiate, "fmi2Instantiate");
  library.load(f.free_instance, "fmi2FreeInstance");
  library.load(f.setup_experiment, "fmi2SetupExperiment");
  library.load(f.enter_initialization_mode, "fmi2EnterInitializationMode");
  library.load(f.exit_initialization_mode, "fmi2ExitInitializationMode");
  library.load(f.terminate, "fmi2Terminate");
}

/// Get and Set of the types that the FMU has.
void load_accesses(const FmuLibrary& library, const ModelDescription& description, Functions& f) {
  const auto has = [&](FmiType type) {
    return std::any_of(description.variables.begin(), description.variables.end(),
                       [&](const FmiVariable& variable) { return variable.type == type; });
  };
  if (has(FmiType::float64)) {
    library.load(f.get_real, "fmi2GetReal");
    library.load(f.set_real, "fmi2SetReal");
  }
  if (has(FmiType::int32) || has(FmiType::enumeration)) {
    library.load(f.get_integer, "fmi2GetInteger");
    library.load(f.set_integer, "fmi2SetInteger");
  }
  if (has(FmiType::boolean)) {
    library.load(f.get_boolean, "fmi2GetBoolean");
    library.load(f.set_boolean, "fmi2SetBoolean");
  }
  if (has(FmiType::string)) library.load(f.set_string, "fmi2SetString");
}

void load_optional(const FmuLibrary& library, const FmiInterface& interface, Functions& f) {
  if (interface.state) {
    library.load(f.get_state, "fmi2GetFMUstate");
    library.load(f.set_state, "fmi2SetFMUstate");
    library.load(f.free_state, "fmi2FreeFMUstate");
  }
  if (interface.serializes) {
    library.load(f.serialized_size, "fmi2SerializedFMUstateSize");
    library.load(f.serialize, "fmi2SerializeFMUstate");
    library.load(f.deserialize, "fmi2DeSerializeFMUstate");
  }
  if (interface.directional)
    library.load(f.get_directional_derivative, "fmi2GetDirectionalDerivative");
}

void load_model_exchange(const FmuLibrary& library, const ModelDescription& description,
                         Functions& f) {
  library.load(f.enter_event_mode, "fmi2EnterEventMode");
  library.load(f.new_discrete_states, "fmi2NewDiscreteStates");
  library.load(f.enter_continuous_time_mode, "fmi2EnterContinuousTimeMode");
  library.load(f.set_time, "fmi2SetTime");
  if (description.model_exchange->completed_step)
    library.load(f.completed_integrator_step, "fmi2CompletedIntegratorStep");
  if (!description.derivatives.empty()) {
    library.load(f.set_continuous_states, "fmi2SetContinuousStates");
    library.load(f.get_derivatives, "fmi2GetDerivatives");
    library.load(f.get_continuous_states, "fmi2GetContinuousStates");
  }
  if (description.event_indicators > 0)
    library.load(f.get_event_indicators, "fmi2GetEventIndicators");
}

void load_co_simulation(const FmuLibrary& library, const FmiInterface& interface, Functions& f) {
  library.load(f.do_step, "fmi2DoStep");
  library.load_if_there(f.get_real_status, "fmi2GetRealStatus");
  library.load_if_there(f.get_boolean_status, "fmi2GetBooleanStatus");
  if (interface.interpolates)
    library.load(f.set_real_input_derivatives, "fmi2SetRealInputDerivatives");
  if (interface.output_derivative_order > 0)
    library.load(f.get_real_output_derivatives, "fmi2GetRealOutputDerivatives");
}

class Fmi2Instance final : public FmuInstance {
 public:
  explicit Fmi2Instance(const FmuSource& source) : FmuInstance(source) {
    load_common(*source_.library, f_);
    load_accesses(*source_.library, *source_.description, f_);
    load_optional(*source_.library, source_.interface(), f_);
    if (source_.role == FmuRole::co_simulation)
      load_co_simulation(*source_.library, source_.interface(), f_);
    else
      load_model_exchange(*source_.library, *source_.description, f_);
    instantiate();
  }
  ~Fmi2Instance() override {
    --source_.library->instances;
    if (source_.library->is_dead()) return;
    if (initialized_ && !in_error_) f_.terminate(component_);
    if (!source_.library->is_dead()) f_.free_instance(component_);
  }

  bool set_texts(const FmiVariable& variable, std::span<const std::string> values) override;
  bool enter_configuration() override { return true; }
  bool leave_configuration() override { return true; }
  bool enter_initialization(double start, double stop, double tolerance) override;
  bool leave_initialization() override {
    initialized_ = true;
    require_alive();
    return call(f_.exit_initialization_mode(component_), "fmi2ExitInitializationMode");
  }
  bool enter_event_mode() override {
    require_alive();
    return call(f_.enter_event_mode(component_), "fmi2EnterEventMode");
  }
  bool update_discrete_states(EventOutcome& outcome) override;
  bool enter_step_mode() override { return true; }

  bool get_state(void*& state) override {
    require_alive();
    return call(f_.get_state(component_, &state), "fmi2GetFMUstate");
  }
  bool set_state(void* state) override {
    require_alive();
    in_error_ = false;
    return call(f_.set_state(component_, state), "fmi2SetFMUstate");
  }
  void free_state(void*& state) noexcept override {
    if (state != nullptr && !source_.library->is_dead()) f_.free_state(component_, &state);
    state = nullptr;
  }
  bool serialize(void* state, std::vector<char>& bytes) override;
  bool deserialize(const std::vector<char>& bytes, void*& state) override {
    require_alive();
    return call(f_.deserialize(component_, bytes.data(), bytes.size(), &state),
                "fmi2DeSerializeFMUstate");
  }
  bool directional_derivative(std::span<const FmiReference> unknowns,
                              std::span<const FmiReference> knowns, std::span<const double> seed,
                              std::span<double> sensitivity) override {
    require_alive();
    return call(
        f_.get_directional_derivative(component_, unknowns.data(), unknowns.size(), knowns.data(),
                                      knowns.size(), seed.data(), sensitivity.data()),
        "fmi2GetDirectionalDerivative");
  }
  bool set_input_derivatives(std::span<const FmiReference> inputs, std::span<const int> orders,
                             std::span<const double> values) override {
    require_alive();
    return call(f_.set_real_input_derivatives(component_, inputs.data(), inputs.size(),
                                              orders.data(), values.data()),
                "fmi2SetRealInputDerivatives");
  }
  bool get_output_derivatives(std::span<const FmiReference> outputs, std::span<const int> orders,
                              std::span<double> values) override {
    require_alive();
    return call(f_.get_real_output_derivatives(component_, outputs.data(), outputs.size(),
                                               orders.data(), values.data()),
                "fmi2GetRealOutputDerivatives");
  }
  StepEnd do_step(double time, double size, bool no_rollback, double& reached,
                  bool& event_needed) override;

  bool enter_continuous_time() override {
    require_alive();
    return call(f_.enter_continuous_time_mode(component_), "fmi2EnterContinuousTimeMode");
  }
  bool set_time(double time) override {
    require_alive();
    return call(f_.set_time(component_, time), "fmi2SetTime");
  }
  bool set_states(std::span<const double> x) override {
    return x.empty() || call(f_.set_continuous_states(component_, x.data(), x.size()),
                             "fmi2SetContinuousStates");
  }
  bool get_states(std::span<double> x) override {
    return x.empty() || call(f_.get_continuous_states(component_, x.data(), x.size()),
                             "fmi2GetContinuousStates");
  }
  bool get_derivatives(std::span<double> dxdt) override {
    return dxdt.empty() ||
           call(f_.get_derivatives(component_, dxdt.data(), dxdt.size()), "fmi2GetDerivatives");
  }
  bool get_event_indicators(std::span<double> z) override {
    return z.empty() ||
           call(f_.get_event_indicators(component_, z.data(), z.size()), "fmi2GetEventIndicators");
  }
  bool completed_step(bool no_rollback, bool& event, bool& terminate) override;

 private:
  bool set_item(const FmuPorts::Item& item, const double* values) override;
  bool get_item(const FmuPorts::Item& item, double* values) override;
  bool set_float64(std::span<const FmiReference> references,
                   std::span<const double> values) override {
    require_alive();
    return call(f_.set_real(component_, references.data(), references.size(), values.data()),
                "fmi2SetReal");
  }
  bool get_float64(std::span<const FmiReference> references, std::span<double> values) override {
    require_alive();
    return call(f_.get_real(component_, references.data(), references.size(), values.data()),
                "fmi2GetReal");
  }
  void instantiate();
  StepEnd after_discard(double time, double size, double& reached);
  bool call(fmi2::Status status, const char* name) {
    if (status >= fmi2::error) [[unlikely]]
      in_error_ = true;
    return passed(status, name);
  }

  Functions f_;
  fmi2::Callbacks callbacks_{};
  fmi2::Component component_ = nullptr;
  bool initialized_ = false;
  bool in_error_ = false;
};

void Fmi2Instance::instantiate() {
  callbacks_ = {log_message, std::calloc, std::free, nullptr, &messages_};
  const auto type =
      source_.role == FmuRole::co_simulation ? fmi2::co_simulation : fmi2::model_exchange;
  report_crashes_of_fmus();
  require_alive();
  component_ = f_.instantiate(source_.name.c_str(), type, source_.description->token.c_str(),
                              file_uri(source_.folder / "resources").c_str(), &callbacks_, 0,
                              source_.log ? 1 : 0);
  running_fmu = nullptr;
  if (component_ == nullptr) fail_to_instantiate("fmi2Instantiate");
  ++source_.library->instances;
}

bool Fmi2Instance::set_texts(const FmiVariable& variable, std::span<const std::string> values) {
  require_alive();
  if (variable.type == FmiType::string) {
    const char* text = values.front().c_str();
    return call(f_.set_string(component_, &variable.reference, 1, &text), "fmi2SetString");
  }
  const double number = variable.type == FmiType::boolean
                            ? (values.front() == "true" || values.front() == "1" ? 1.0 : 0.0)
                            : parse_number(values.front()).value_or(0.0);
  return set_item({variable.type, variable.reference, 0, 1}, &number);
}

bool Fmi2Instance::set_item(const FmuPorts::Item& item, const double* values) {
  require_alive();
  const auto whole = static_cast<int>(std::lround(values[0]));
  switch (item.type) {
    case FmiType::float64:
      return call(f_.set_real(component_, &item.reference, 1, values), "fmi2SetReal");
    case FmiType::boolean: {
      const fmi2::Boolean flag = values[0] != 0.0 ? 1 : 0;
      return call(f_.set_boolean(component_, &item.reference, 1, &flag), "fmi2SetBoolean");
    }
    default:
      return call(f_.set_integer(component_, &item.reference, 1, &whole), "fmi2SetInteger");
  }
}

bool Fmi2Instance::get_item(const FmuPorts::Item& item, double* values) {
  require_alive();
  int whole = 0;
  bool good = true;
  switch (item.type) {
    case FmiType::float64:
      return call(f_.get_real(component_, &item.reference, 1, values), "fmi2GetReal");
    case FmiType::boolean:
      good = call(f_.get_boolean(component_, &item.reference, 1, &whole), "fmi2GetBoolean");
      break;
    default:
      good = call(f_.get_integer(component_, &item.reference, 1, &whole), "fmi2GetInteger");
  }
  values[0] = whole;
  return good;
}

bool Fmi2Instance::enter_initialization(double start, double stop, double tolerance) {
  require_alive();
  return call(f_.setup_experiment(component_, tolerance > 0.0 ? 1 : 0, tolerance, start, 1, stop),
              "fmi2SetupExperiment") &&
         call(f_.enter_initialization_mode(component_), "fmi2EnterInitializationMode");
}

bool Fmi2Instance::update_discrete_states(EventOutcome& outcome) {
  require_alive();
  fmi2::EventInfo info{};
  do {
    if (!call(f_.new_discrete_states(component_, &info), "fmi2NewDiscreteStates")) return false;
    outcome.states_changed = outcome.states_changed || info.states_changed != 0;
    outcome.terminate = info.terminate_simulation != 0;
  } while (info.new_discrete_states_needed != 0 && !outcome.terminate);
  outcome.next_time = info.next_event_time_defined != 0 ? info.next_event_time
                                                        : std::numeric_limits<double>::infinity();
  return true;
}

bool Fmi2Instance::serialize(void* state, std::vector<char>& bytes) {
  require_alive();
  std::size_t size = 0;
  if (!call(f_.serialized_size(component_, state, &size), "fmi2SerializedFMUstateSize"))
    return false;
  bytes.resize(size);
  return call(f_.serialize(component_, state, bytes.data(), size), "fmi2SerializeFMUstate");
}

StepEnd Fmi2Instance::do_step(double time, double size, bool no_rollback, double& reached,
                              bool& /*event_needed*/) {
  require_alive();
  reached = time + size;
  const fmi2::Status status = f_.do_step(component_, time, size, no_rollback ? 1 : 0);
  running_fmu = nullptr;
  if (status <= fmi2::warning) [[likely]]
    return StepEnd::completed;
  if (status == fmi2::pending) {
    failure_ = "fmi2DoStep returned pending, which is not supported";
    return StepEnd::failed;
  }
  call(status, "fmi2DoStep");
  return status == fmi2::discard ? after_discard(time, size, reached) : StepEnd::failed;
}

StepEnd Fmi2Instance::after_discard(double time, double size, double& reached) {
  reached = time;
  fmi2::Boolean terminated = 0;
  if (f_.get_boolean_status != nullptr &&
      f_.get_boolean_status(component_, fmi2::terminated, &terminated) == fmi2::ok &&
      terminated != 0)
    return StepEnd::terminated;
  double last = time;
  if (f_.get_real_status != nullptr &&
      f_.get_real_status(component_, fmi2::last_successful_time, &last) == fmi2::ok &&
      last > time && last < time + size)
    reached = last;
  return StepEnd::discarded;
}

bool Fmi2Instance::completed_step(bool no_rollback, bool& event, bool& terminate) {
  require_alive();
  event = terminate = false;
  if (f_.completed_integrator_step == nullptr) return true;
  fmi2::Boolean enter_event_mode = 0, stop = 0;
  const auto status =
      f_.completed_integrator_step(component_, no_rollback ? 1 : 0, &enter_event_mode, &stop);
  event = enter_event_mode != 0;
  terminate = stop != 0;
  return call(status, "fmi2CompletedIntegratorStep");
}

}  // namespace

std::unique_ptr<FmuInstance> make_fmi2_instance(const FmuSource& source) {
  return std::make_unique<Fmi2Instance>(source);
}

}  // namespace concord
