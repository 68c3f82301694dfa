#include "subsystem/fmu/binary/fmi2_instance.hpp"

#include <cstdlib>
#include <limits>

#include "subsystem/fmu/binary/c_texts.hpp"
#include "subsystem/fmu/binary/fmi2.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

/// Get and Set of the types that the FMU has.
void load_accesses(const FmuLibrary& library, const ModelDescription& description,
                   fmi2::Functions& f) {
  const auto has = [&](FmiType type) { return has_type(description, type); };
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
  if (puts_out(description, FmiType::string)) library.load(f.get_string, "fmi2GetString");
}

void load_co_simulation(const FmuLibrary& library, const FmiInterface& interface,
                        fmi2::Functions& f) {
  library.load(f.do_step, "fmi2DoStep");
  library.load_if_there(f.get_real_status, "fmi2GetRealStatus");
  library.load_if_there(f.get_boolean_status, "fmi2GetBooleanStatus");
  if (interface.interpolates)
    library.load(f.set_real_input_derivatives, "fmi2SetRealInputDerivatives");
  if (interface.output_derivative_order > 0)
    library.load(f.get_real_output_derivatives, "fmi2GetRealOutputDerivatives");
}

fmi2::Functions load_functions(const FmuSource& source) {
  const FmuLibrary& library = *source.library;
  fmi2::Functions f;
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
    callbacks_ = {log_formatted<fmi2::Status>, std::calloc, std::free, nullptr,
                  static_cast<FmuInstance*>(this)};
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

 private:
  bool tell_experiment(const Experiment& experiment) override {
    return invoke(f_.setup_experiment, experiment.has_tolerance() ? 1 : 0, experiment.tolerance,
                  experiment.start, experiment.has_stop() ? 1 : 0, experiment.told_stop());
  }
  bool begin_initialization(const Experiment& /*experiment*/) override {
    return invoke(f_.enter_initialization_mode);
  }
  bool update_discrete_states_once(EventOutcome& outcome, bool& again) override;
  StepEnd step(double time, double size, bool no_rollback, double& reached,
               bool& event_needed) override;
  StepEnd after_discard(double time, double size, double& reached);
  bool begin_configuration() override { return true; }
  bool end_configuration() override { return true; }
  bool begin_step_mode() override { return true; }
  bool complete_step(bool no_rollback, bool& event, bool& terminate) override;
  bool set_group(const FmuPorts::Group& group, std::span<const double> values) override;
  bool get_group(const FmuPorts::Group& group, std::span<double> values) override;
  bool write_texts(const FmiVariable& variable, std::span<const std::string> values) override {
    const char* text = values.front().c_str();
    return invoke(f_.set_string, &variable.reference, std::size_t{1}, &text);
  }
  bool read_texts(const FmiVariable& variable, std::span<std::string> values) override {
    const char* text = nullptr;
    if (!invoke(f_.get_string, &variable.reference, std::size_t{1}, &text)) return false;
    values.front() = text != nullptr ? text : "";
    return true;
  }
  bool directional_derivative(std::span<const FmiReference> unknowns,
                              std::span<const FmiReference> knowns, std::span<const double> seed,
                              std::span<double> sensitivity) override {
    return invoke_optional(f_.get_directional_derivative, unknowns.data(), unknowns.size(),
                           knowns.data(), knowns.size(), seed.data(), sensitivity.data());
  }
  bool input_derivatives(std::span<const FmiReference> inputs, std::span<const int> orders,
                         std::span<const double> values) override {
    return invoke_optional(f_.set_real_input_derivatives, inputs.data(), inputs.size(),
                           orders.data(), values.data());
  }
  bool output_derivatives(std::span<const FmiReference> outputs, std::span<const int> orders,
                          std::span<double> values) override {
    return invoke_optional(f_.get_real_output_derivatives, outputs.data(), outputs.size(),
                           orders.data(), values.data());
  }

  fmi2::Functions f_;
  fmi2::Callbacks callbacks_{};
};

bool Fmi2Instance::set_texts(const FmiVariable& variable, std::span<const std::string> values) {
  if (variable.type == FmiType::string) return write_texts(variable, values);
  const std::string& text = values.front();
  if (variable.type == FmiType::float64) {
    const double number = parse_number(text).value_or(0.0);
    return invoke(f_.set_real, &variable.reference, std::size_t{1}, &number);
  }
  const bool logical = variable.type == FmiType::boolean;
  const fmi2::Integer whole = logical ? static_cast<int>(text == "true" || text == "1")
                                      : rounded_to<fmi2::Integer>(parse_number(text).value_or(0.0));
  return invoke(logical ? f_.set_boolean : f_.set_integer, &variable.reference, std::size_t{1},
                &whole);
}

bool Fmi2Instance::set_group(const FmuPorts::Group& group, std::span<const double> values) {
  const std::span<const FmiReference> r = group.references;
  if (group.type == FmiType::float64)
    return invoke(f_.set_real, r.data(), r.size(), gathered<double>(group, values).data());
  if (group.type == FmiType::int32)
    return invoke(f_.set_integer, r.data(), r.size(),
                  gathered<fmi2::Integer>(group, values).data());
  const std::span<fmi2::Boolean> typed = room<fmi2::Boolean>(r.size());
  for (std::size_t i = 0; i < typed.size(); ++i)
    typed[i] = static_cast<int>(rounded_to<bool>(values[group.places[i]]));
  return invoke(f_.set_boolean, r.data(), r.size(), typed.data());
}

bool Fmi2Instance::get_group(const FmuPorts::Group& group, std::span<double> values) {
  const std::span<const FmiReference> r = group.references;
  if (group.type == FmiType::float64)
    return scattered<double>(group, values, [&](std::span<double> typed) {
      return invoke(f_.get_real, r.data(), r.size(), typed.data());
    });
  const auto& get = group.type == FmiType::boolean ? f_.get_boolean : f_.get_integer;
  return scattered<fmi2::Integer>(group, values, [&](std::span<fmi2::Integer> typed) {
    return invoke(get, r.data(), r.size(), typed.data());
  });
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
  if (status == fmi2::pending) return goes_on_in_background(f_.do_step.name);
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
  reached = last_time(f_.get_real_status, fmi2::last_successful_time, time, size);
  return StepEnd::discarded;
}

bool Fmi2Instance::complete_step(bool no_rollback, bool& event, bool& terminate) {
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
