#include "subsystem/fmu/fmi2_instance.hpp"

#include <algorithm>
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

void log_message(fmi2::Environment environment, fmi2::String /*instance*/, fmi2::Status status,
                 fmi2::String /*category*/, fmi2::String format, ...) {
  char text[1024] = "";
  std::va_list arguments;
  va_start(arguments, format);
  if (format != nullptr) std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (FmuInstance* instance = LiveInstance::at(environment)) instance->take_message(status, text);
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

void load_co_simulation(const FmuLibrary& library, const FmiInterface& interface, Functions& f) {
  library.load(f.do_step, "fmi2DoStep");
  library.load_if_there(f.get_real_status, "fmi2GetRealStatus");
  library.load_if_there(f.get_boolean_status, "fmi2GetBooleanStatus");
  if (interface.interpolates)
    library.load(f.set_real_input_derivatives, "fmi2SetRealInputDerivatives");
  if (interface.output_derivative_order > 0)
    library.load(f.get_real_output_derivatives, "fmi2GetRealOutputDerivatives");
}

Functions load_functions(const FmuSource& source) {
  const FmuLibrary& library = *source.library;
  Functions f;
  library.load_pointer(f.instantiate, "fmi2Instantiate");
  library.load(f.setup_experiment, "fmi2SetupExperiment");
  library.load(f.enter_initialization_mode, "fmi2EnterInitializationMode");
  load_accesses(library, *source.description, f);
  if (source.interface().directional)
    library.load(f.get_directional_derivative, "fmi2GetDirectionalDerivative");
  if (source.role == FmuRole::co_simulation) {
    load_co_simulation(library, source.interface(), f);
    return f;
  }
  library.load(f.new_discrete_states, "fmi2NewDiscreteStates");
  if (source.interface().completed_step)
    library.load(f.completed_integrator_step, "fmi2CompletedIntegratorStep");
  return f;
}

class Fmi2Instance final : public FmuInstance {
 public:
  explicit Fmi2Instance(const FmuSource& source)
      : FmuInstance(source), f_(load_functions(source_)) {
    callbacks_ = {log_message, std::calloc, std::free, nullptr, static_cast<FmuInstance*>(this)};
    const auto type =
        source_.role == FmuRole::co_simulation ? fmi2::co_simulation : fmi2::model_exchange;
    const std::string resources = file_uri(source_.folder / "resources");
    instantiate("fmi2Instantiate", [&] {
      return f_.instantiate(source_.name.c_str(), type, source_.description->token.c_str(),
                            resources.c_str(), &callbacks_, 0, source_.log ? 1 : 0);
    });
  }
  ~Fmi2Instance() override { end(); }

  bool set_texts(const FmiVariable& variable, std::span<const std::string> values) override;
  bool enter_configuration() override { return true; }
  bool leave_configuration() override { return true; }
  bool enter_step_mode() override { return true; }
  bool directional_derivative(std::span<const FmiReference> unknowns,
                              std::span<const FmiReference> knowns, std::span<const double> seed,
                              std::span<double> sensitivity) override {
    return invoke(f_.get_directional_derivative, unknowns.data(), unknowns.size(), knowns.data(),
                  knowns.size(), seed.data(), sensitivity.data());
  }
  bool set_input_derivatives(std::span<const FmiReference> inputs, std::span<const int> orders,
                             std::span<const double> values) override {
    return invoke(f_.set_real_input_derivatives, inputs.data(), inputs.size(), orders.data(),
                  values.data());
  }
  bool get_output_derivatives(std::span<const FmiReference> outputs, std::span<const int> orders,
                              std::span<double> values) override {
    return invoke(f_.get_real_output_derivatives, outputs.data(), outputs.size(), orders.data(),
                  values.data());
  }
  bool completed_step(bool no_rollback, bool& event, bool& terminate) override;

 private:
  bool begin_initialization(double start, double stop, double tolerance) override {
    return invoke(f_.setup_experiment, tolerance > 0.0 ? 1 : 0, tolerance, start, 1, stop) &&
           invoke(f_.enter_initialization_mode);
  }
  bool update_discrete_states_once(EventOutcome& outcome, bool& again) override;
  StepEnd step(double time, double size, bool no_rollback, double& reached,
               bool& event_needed) override;
  StepEnd after_discard(double time, double size, double& reached);
  bool set_item(const FmuPorts::Item& item, const double* values) override;
  bool get_item(const FmuPorts::Item& item, double* values) override;
  bool set_float64(std::span<const FmiReference> references,
                   std::span<const double> values) override {
    return invoke(f_.set_real, references.data(), references.size(), values.data());
  }
  bool get_float64(std::span<const FmiReference> references, std::span<double> values) override {
    return invoke(f_.get_real, references.data(), references.size(), values.data());
  }

  Functions f_;
  fmi2::Callbacks callbacks_{};
};

bool Fmi2Instance::set_texts(const FmiVariable& variable, std::span<const std::string> values) {
  if (variable.type == FmiType::string) {
    const char* text = values.front().c_str();
    return invoke(f_.set_string, &variable.reference, std::size_t{1}, &text);
  }
  const double number = variable.type == FmiType::boolean
                            ? (values.front() == "true" || values.front() == "1" ? 1.0 : 0.0)
                            : parse_number(values.front()).value_or(0.0);
  return set_item({variable.type, variable.reference, 0, 1}, &number);
}

bool Fmi2Instance::set_item(const FmuPorts::Item& item, const double* values) {
  if (item.type == FmiType::float64)
    return invoke(f_.set_real, &item.reference, std::size_t{1}, values);
  const fmi2::Integer whole = item.type == FmiType::boolean
                                  ? static_cast<int>(rounded_to<bool>(values[0]))
                                  : rounded_to<fmi2::Integer>(values[0]);
  return invoke(item.type == FmiType::boolean ? f_.set_boolean : f_.set_integer, &item.reference,
                std::size_t{1}, &whole);
}

bool Fmi2Instance::get_item(const FmuPorts::Item& item, double* values) {
  if (item.type == FmiType::float64)
    return invoke(f_.get_real, &item.reference, std::size_t{1}, values);
  fmi2::Integer whole = 0;
  const bool good = invoke(item.type == FmiType::boolean ? f_.get_boolean : f_.get_integer,
                           &item.reference, std::size_t{1}, &whole);
  values[0] = whole;
  return good;
}

bool Fmi2Instance::update_discrete_states_once(EventOutcome& outcome, bool& again) {
  fmi2::EventInfo info{};
  if (!invoke(f_.new_discrete_states, &info)) return false;
  outcome.states_changed = outcome.states_changed || info.states_changed != 0;
  outcome.terminate = info.terminate_simulation != 0;
  outcome.next_time = info.next_event_time_defined != 0 ? info.next_event_time
                                                        : std::numeric_limits<double>::infinity();
  again = info.new_discrete_states_needed != 0;
  return true;
}

StepEnd Fmi2Instance::step(double time, double size, bool no_rollback, double& reached,
                           bool& /*event_needed*/) {
  reached = time + size;
  const int status = invoke_raw(f_.do_step, time, size, no_rollback ? 1 : 0);
  if (status == fmi2::pending) {
    failure_ = f_.do_step.name + " of the FMU " + source_.library->fmu() +
               " returned pending; steps that go on in the background are not supported";
    return StepEnd::failed;
  }
  if (passed(status, f_.do_step.name)) [[likely]]
    return StepEnd::completed;
  return status == fmi2::discard ? after_discard(time, size, reached) : StepEnd::failed;
}

StepEnd Fmi2Instance::after_discard(double time, double size, double& reached) {
  reached = time;
  fmi2::Boolean terminated = 0;
  if (f_.get_boolean_status &&
      invoke_raw(f_.get_boolean_status, fmi2::terminated, &terminated) == fmi2::ok &&
      terminated != 0)
    return StepEnd::terminated;
  double last = time;
  if (f_.get_real_status &&
      invoke_raw(f_.get_real_status, fmi2::last_successful_time, &last) == fmi2::ok &&
      last > time && last < time + size)
    reached = last;
  return StepEnd::discarded;
}

bool Fmi2Instance::completed_step(bool no_rollback, bool& event, bool& terminate) {
  event = terminate = false;
  if (!f_.completed_integrator_step) return true;
  fmi2::Boolean enter_event_mode = 0, stop = 0;
  const bool good =
      invoke(f_.completed_integrator_step, no_rollback ? 1 : 0, &enter_event_mode, &stop);
  event = enter_event_mode != 0;
  terminate = stop != 0;
  return good;
}

}  // namespace

std::unique_ptr<FmuInstance> make_fmi2_instance(const FmuSource& source) {
  return std::make_unique<Fmi2Instance>(source);
}

}  // namespace concord
