#include "subsystem/fmu/fmi3_functions.hpp"

#include <algorithm>
#include <string>

namespace concord {

namespace {

using fmi3::Functions;

bool has(const ModelDescription& description, FmiType type) {
  return std::any_of(description.variables.begin(), description.variables.end(),
                     [&](const FmiVariable& variable) { return variable.type == type; });
}

template <class Value>
void load_access(const FmuSource& source, std::initializer_list<FmiType> users, const char* name,
                 fmi3::Access<Value>& access) {
  if (std::none_of(users.begin(), users.end(),
                   [&](FmiType type) { return has(*source.description, type); }))
    return;
  source.library->load(access.get, (std::string("fmi3Get") + name).c_str());
  source.library->load(access.set, (std::string("fmi3Set") + name).c_str());
}

void load_accesses(const FmuSource& source, Functions& f) {
  load_access(source, {FmiType::float32}, "Float32", f.float32);
  load_access(source, {FmiType::float64}, "Float64", f.float64);
  load_access(source, {FmiType::int8}, "Int8", f.int8);
  load_access(source, {FmiType::uint8}, "UInt8", f.uint8);
  load_access(source, {FmiType::int16}, "Int16", f.int16);
  load_access(source, {FmiType::uint16}, "UInt16", f.uint16);
  load_access(source, {FmiType::int32}, "Int32", f.int32);
  load_access(source, {FmiType::uint32}, "UInt32", f.uint32);
  load_access(source, {FmiType::int64, FmiType::enumeration}, "Int64", f.int64);
  load_access(source, {FmiType::uint64}, "UInt64", f.uint64);
  load_access(source, {FmiType::boolean}, "Boolean", f.boolean);
  if (has(*source.description, FmiType::string))
    source.library->load(f.set_string, "fmi3SetString");
}

void load_common(const FmuLibrary& library, Functions& f) {
  library.load(f.free_instance, "fmi3FreeInstance");
  library.load(f.enter_initialization_mode, "fmi3EnterInitializationMode");
  library.load(f.exit_initialization_mode, "fmi3ExitInitializationMode");
  library.load(f.terminate, "fmi3Terminate");
}

void load_optional(const FmuLibrary& library, const FmiInterface& interface, Functions& f) {
  if (interface.state) {
    library.load(f.get_state, "fmi3GetFMUState");
    library.load(f.set_state, "fmi3SetFMUState");
    library.load(f.free_state, "fmi3FreeFMUState");
  }
  if (interface.serializes) {
    library.load(f.serialized_size, "fmi3SerializedFMUStateSize");
    library.load(f.serialize, "fmi3SerializeFMUState");
    library.load(f.deserialize, "fmi3DeserializeFMUState");
  }
  if (interface.directional)
    library.load(f.get_directional_derivative, "fmi3GetDirectionalDerivative");
}

void load_model_exchange(const FmuLibrary& library, const ModelDescription& description,
                         Functions& f) {
  library.load(f.instantiate_model_exchange, "fmi3InstantiateModelExchange");
  library.load(f.enter_event_mode, "fmi3EnterEventMode");
  library.load(f.update_discrete_states, "fmi3UpdateDiscreteStates");
  library.load(f.enter_continuous_time_mode, "fmi3EnterContinuousTimeMode");
  library.load(f.set_time, "fmi3SetTime");
  if (description.model_exchange->completed_step)
    library.load(f.completed_integrator_step, "fmi3CompletedIntegratorStep");
  if (!description.derivatives.empty()) {
    library.load(f.set_continuous_states, "fmi3SetContinuousStates");
    library.load(f.get_derivatives, "fmi3GetContinuousStateDerivatives");
    library.load(f.get_continuous_states, "fmi3GetContinuousStates");
  }
  if (description.event_indicators > 0)
    library.load(f.get_event_indicators, "fmi3GetEventIndicators");
}

void load_co_simulation(const FmuLibrary& library, const FmiInterface& interface, Functions& f) {
  library.load(f.instantiate_co_simulation, "fmi3InstantiateCoSimulation");
  library.load(f.do_step, "fmi3DoStep");
  if (interface.event_mode) {
    library.load(f.enter_event_mode, "fmi3EnterEventMode");
    library.load(f.update_discrete_states, "fmi3UpdateDiscreteStates");
    library.load(f.enter_step_mode, "fmi3EnterStepMode");
  }
  if (interface.output_derivative_order > 0)
    library.load(f.get_output_derivatives, "fmi3GetOutputDerivatives");
}

}  // namespace

Functions load_fmi3_functions(const FmuSource& source) {
  Functions f;
  load_common(*source.library, f);
  load_accesses(source, f);
  load_optional(*source.library, source.interface(), f);
  if (source.role == FmuRole::co_simulation)
    load_co_simulation(*source.library, source.interface(), f);
  else
    load_model_exchange(*source.library, *source.description, f);
  return f;
}

}  // namespace concord
