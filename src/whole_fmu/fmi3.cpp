#include "subsystem/fmu/binary/fmi3.hpp"

#include <string>

#include "concord/errors.hpp"
#include "whole_fmu/instance.hpp"

// The functions of FMI 3.0.2 for co-simulation, sections 2.2 and 4.2.

namespace concord {
namespace {

using fmi3::Environment;
using fmi3::Instance;
using fmi3::LogMessage;
using fmi3::Reference;
using fmi3::String;
using State = void*;

WholeInstance::Tell tell_by(Environment environment, LogMessage log) {
  return [=](WholeStatus status, const char* category, const std::string& text) {
    if (log != nullptr) log(environment, static_cast<fmi3::Status>(status), category, text.c_str());
  };
}

Instance not_made(Environment environment, LogMessage log, const char* function, const char* what) {
  return new_instance(tell_by(environment, log), function, nullptr,
                      [&]() -> std::filesystem::path { refuse(what); });
}

void require_scalars(std::size_t count, std::size_t n_values) {
  if (count != n_values)
    throw InputError(std::to_string(count) + " variables have one value each, not " +
                     std::to_string(n_values) + " in all");
}

int not_offered(Instance instance, const char* function, const char* what) {
  return called(instance, function, [&](WholeModel&) { refuse(what); });
}

int no_variables(Instance instance, const char* function, std::size_t count) {
  return called(instance, function, [&](WholeModel&) {
    if (count != 0) refuse("variables other than Float64");
  });
}

}  // namespace
}  // namespace concord

#define FMI3_FUNCTION(type, name) extern "C" __attribute__((visibility("default"))) type name
// NOLINTBEGIN(readability-identifier-naming): the standard's names
using namespace concord;

FMI3_FUNCTION(String, fmi3GetVersion)() { return "3.0"; }

FMI3_FUNCTION(int, fmi3SetDebugLogging)(Instance, bool, std::size_t, const String*) {
  return fmi3::ok;  // there are only errors and warnings to tell
}

FMI3_FUNCTION(Instance, fmi3InstantiateCoSimulation)
(String, String token, String resources, bool, bool, bool event_mode, bool early_return,
 const Reference*, std::size_t intermediate, Environment environment, LogMessage log,
 fmi3::IntermediateUpdate) {
  const EventUse events{event_mode, event_mode && early_return};
  const auto find_resources = [&] {
    if (intermediate != 0) refuse("intermediate variables");
    if (resources == nullptr) throw InputError("there is no path of the resources");
    return std::filesystem::path(resources);
  };
  return new_instance(tell_by(environment, log), "fmi3InstantiateCoSimulation", token,
                      find_resources, events);
}

FMI3_FUNCTION(Instance, fmi3InstantiateModelExchange)
(String, String, String, bool, bool, Environment environment, LogMessage log) {
  return not_made(environment, log, "fmi3InstantiateModelExchange", "model exchange");
}

FMI3_FUNCTION(Instance, fmi3InstantiateScheduledExecution)
(String, String, String, bool, bool, Environment environment, LogMessage log, void (*)(Environment),
 void (*)(), void (*)()) {
  return not_made(environment, log, "fmi3InstantiateScheduledExecution", "scheduled execution");
}

FMI3_FUNCTION(void, fmi3FreeInstance)(Instance instance) { delete_instance(instance); }

FMI3_FUNCTION(int, fmi3EnterInitializationMode)
(Instance instance, bool tolerance_defined, double tolerance, double start, bool stop_defined,
 double stop) {
  return called(instance, "fmi3EnterInitializationMode", [&](WholeModel& model) {
    WholeExperiment experiment{start, {}, {}};
    if (stop_defined) experiment.stop = stop;
    if (tolerance_defined && tolerance > 0.0) experiment.accuracy = tolerance;
    model.set_up(experiment);
    model.begin_initialization();
  });
}

FMI3_FUNCTION(int, fmi3ExitInitializationMode)(Instance instance) {
  return called(instance, "fmi3ExitInitializationMode",
                [](WholeModel& model) { model.end_initialization(); });
}

FMI3_FUNCTION(int, fmi3Terminate)(Instance instance) {
  return called(instance, "fmi3Terminate", [](WholeModel& model) { model.terminate(); });
}

FMI3_FUNCTION(int, fmi3Reset)(Instance instance) {
  return called(instance, "fmi3Reset", [](WholeModel& model) { model.reset(); });
}

FMI3_FUNCTION(int, fmi3GetFloat64)
(Instance instance, const Reference* references, std::size_t count, double* values,
 std::size_t n_values) {
  return called(instance, "fmi3GetFloat64", [&](WholeModel& model) {
    require_scalars(count, n_values);
    model.get({references, count}, values);
  });
}

FMI3_FUNCTION(int, fmi3SetFloat64)
(Instance instance, const Reference* references, std::size_t count, const double* values,
 std::size_t n_values) {
  return called(instance, "fmi3SetFloat64", [&](WholeModel& model) {
    require_scalars(count, n_values);
    model.set({references, count}, values);
  });
}

#define FMI3_NO_VARIABLES(name, ...)                                                              \
  FMI3_FUNCTION(int, name)(Instance instance, const Reference*, std::size_t count, __VA_ARGS__) { \
    return no_variables(instance, #name, count);                                                  \
  }
#define FMI3_NO_TYPE(name, type)                       \
  FMI3_NO_VARIABLES(fmi3Get##name, type*, std::size_t) \
  FMI3_NO_VARIABLES(fmi3Set##name, const type*, std::size_t)
FMI3_NO_TYPE(Float32, float)
FMI3_NO_TYPE(Int8, std::int8_t)
FMI3_NO_TYPE(UInt8, std::uint8_t)
FMI3_NO_TYPE(Int16, std::int16_t)
FMI3_NO_TYPE(UInt16, std::uint16_t)
FMI3_NO_TYPE(Int32, std::int32_t)
FMI3_NO_TYPE(UInt32, std::uint32_t)
FMI3_NO_TYPE(Int64, std::int64_t)
FMI3_NO_TYPE(UInt64, std::uint64_t)
FMI3_NO_TYPE(Boolean, bool)
FMI3_NO_TYPE(String, String)
FMI3_NO_VARIABLES(fmi3GetBinary, std::size_t*, const std::uint8_t**, std::size_t)
FMI3_NO_VARIABLES(fmi3SetBinary, const std::size_t*, const std::uint8_t* const*, std::size_t)
FMI3_NO_VARIABLES(fmi3GetClock, bool*)
FMI3_NO_VARIABLES(fmi3SetClock, const bool*)
FMI3_NO_VARIABLES(fmi3GetIntervalDecimal, double*, int*)
FMI3_NO_VARIABLES(fmi3GetIntervalFraction, std::uint64_t*, std::uint64_t*, int*)
FMI3_NO_VARIABLES(fmi3GetShiftDecimal, double*)
FMI3_NO_VARIABLES(fmi3GetShiftFraction, std::uint64_t*, std::uint64_t*)
FMI3_NO_VARIABLES(fmi3SetIntervalDecimal, const double*)
FMI3_NO_VARIABLES(fmi3SetIntervalFraction, const std::uint64_t*, const std::uint64_t*)
FMI3_NO_VARIABLES(fmi3SetShiftDecimal, const double*)
FMI3_NO_VARIABLES(fmi3SetShiftFraction, const std::uint64_t*, const std::uint64_t*)

FMI3_FUNCTION(int, fmi3GetFMUState)(Instance instance, State* state) {
  return called(instance, "fmi3GetFMUState", [&](WholeModel& model) { save(model, state); });
}

FMI3_FUNCTION(int, fmi3SetFMUState)(Instance instance, State state) {
  return called(instance, "fmi3SetFMUState",
                [&](WholeModel& model) { model.restore(state_in(state)); });
}

FMI3_FUNCTION(int, fmi3FreeFMUState)(Instance instance, State* state) {
  return called(instance, "fmi3FreeFMUState", [&](WholeModel&) { free_state(state); });
}

FMI3_FUNCTION(int, fmi3SerializedFMUStateSize)
(Instance instance, State state, std::size_t* size) {
  return called(instance, "fmi3SerializedFMUStateSize",
                [&](WholeModel& model) { *size = model.bytes_of(state_in(state)).size(); });
}

FMI3_FUNCTION(int, fmi3SerializeFMUState)
(Instance instance, State state, std::uint8_t* bytes, std::size_t size) {
  return called(instance, "fmi3SerializeFMUState",
                [&](WholeModel& model) { serialize(model, state, bytes, size); });
}

FMI3_FUNCTION(int, fmi3DeserializeFMUState)
(Instance instance, const std::uint8_t* bytes, std::size_t size, State* state) {
  return called(instance, "fmi3DeserializeFMUState",
                [&](WholeModel& model) { deserialize(model, bytes, size, state); });
}

FMI3_FUNCTION(int, fmi3DoStep)
(Instance instance, double time, double size, bool, bool* event_needed, bool* terminate,
 bool* early_return, double* last_time) {
  *event_needed = *terminate = *early_return = false;
  const int status = called(instance, "fmi3DoStep", [&](WholeModel& model) {
    *last_time = model.time();
    try {
      const StepOutcome ended = model.step(time, size);
      *event_needed = ended.event;
      *early_return = ended.early;
    } catch (const EndedEarly&) {
      *terminate = true;
    }
    *last_time = model.time();
  });
  return status;
}

FMI3_FUNCTION(int, fmi3EnterEventMode)(Instance instance) {
  return called(instance, "fmi3EnterEventMode",
                [](WholeModel& model) { model.enter_event_mode(); });
}

FMI3_FUNCTION(int, fmi3UpdateDiscreteStates)
(Instance instance, bool* again, bool* terminate, bool* nominals_changed, bool* states_changed,
 bool* next_defined, double* next_time) {
  *again = *terminate = *nominals_changed = *states_changed = *next_defined = false;
  return called(instance, "fmi3UpdateDiscreteStates", [&](WholeModel& model) {
    const std::optional<double> next = model.update_discrete_states();
    *next_defined = next.has_value();
    *next_time = next.value_or(0.0);
    *states_changed = true;
  });
}

FMI3_FUNCTION(int, fmi3EnterStepMode)(Instance instance) {
  return called(instance, "fmi3EnterStepMode", [](WholeModel& model) { model.enter_step_mode(); });
}

FMI3_FUNCTION(int, fmi3GetDirectionalDerivative)
(Instance instance, const Reference* unknowns, std::size_t n_unknowns, const Reference* knowns,
 std::size_t n_knowns, const double* seed, std::size_t n_seed, double* result,
 std::size_t n_result) {
  return called(instance, "fmi3GetDirectionalDerivative", [&](WholeModel& model) {
    require_scalars(n_knowns, n_seed);
    require_scalars(n_unknowns, n_result);
    model.derive({unknowns, n_unknowns}, {knowns, n_knowns}, seed, result);
  });
}

FMI3_FUNCTION(int, fmi3GetAdjointDerivative)
(Instance instance, const Reference* unknowns, std::size_t n_unknowns, const Reference* knowns,
 std::size_t n_knowns, const double* seed, std::size_t n_seed, double* result,
 std::size_t n_result) {
  return called(instance, "fmi3GetAdjointDerivative", [&](WholeModel& model) {
    require_scalars(n_unknowns, n_seed);
    require_scalars(n_knowns, n_result);
    model.derive_adjoint({unknowns, n_unknowns}, {knowns, n_knowns}, seed, result);
  });
}

// What modelDescription.xml says not to be there.

#define FMI3_NOT_OFFERED(name, what, ...)                                  \
  FMI3_FUNCTION(int, name)(Instance instance __VA_OPT__(, ) __VA_ARGS__) { \
    return not_offered(instance, #name, what);                             \
  }
constexpr const char* exchange = "model exchange";
FMI3_NOT_OFFERED(fmi3GetNumberOfVariableDependencies, "dependencies", Reference, std::size_t*)
FMI3_NOT_OFFERED(fmi3GetVariableDependencies, "dependencies", Reference, std::size_t*, Reference*,
                 std::size_t*, int*, std::size_t)
FMI3_NOT_OFFERED(fmi3GetOutputDerivatives, "derivatives of outputs", const Reference*, std::size_t,
                 const std::int32_t*, double*, std::size_t)
FMI3_NOT_OFFERED(fmi3EnterConfigurationMode, "structural parameters")
FMI3_NOT_OFFERED(fmi3ExitConfigurationMode, "structural parameters")
FMI3_NOT_OFFERED(fmi3EvaluateDiscreteStates, "discrete states without an update")
FMI3_NOT_OFFERED(fmi3ActivateModelPartition, "scheduled execution", Reference, double)
FMI3_NOT_OFFERED(fmi3EnterContinuousTimeMode, exchange)
FMI3_NOT_OFFERED(fmi3CompletedIntegratorStep, exchange, bool, bool*, bool*)
FMI3_NOT_OFFERED(fmi3SetTime, exchange, double)
FMI3_NOT_OFFERED(fmi3SetContinuousStates, exchange, const double*, std::size_t)
FMI3_NOT_OFFERED(fmi3GetContinuousStateDerivatives, exchange, double*, std::size_t)
FMI3_NOT_OFFERED(fmi3GetEventIndicators, exchange, double*, std::size_t)
FMI3_NOT_OFFERED(fmi3GetContinuousStates, exchange, double*, std::size_t)
FMI3_NOT_OFFERED(fmi3GetNominalsOfContinuousStates, exchange, double*, std::size_t)
FMI3_NOT_OFFERED(fmi3GetNumberOfEventIndicators, exchange, std::size_t*)
FMI3_NOT_OFFERED(fmi3GetNumberOfContinuousStates, exchange, std::size_t*)
// NOLINTEND(readability-identifier-naming)
