#include "subsystem/fmu/binary/fmi3_functions.hpp"

#include <algorithm>
#include <string>

namespace concord {

namespace {

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
  source.library->load(access.get, std::string("fmi3Get") + name);
  source.library->load(access.set, std::string("fmi3Set") + name);
}

void load_accesses(const FmuSource& source, fmi3::Functions& f) {
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
  const ModelDescription& description = *source.description;
  if (has(description, FmiType::string)) source.library->load(f.string.set, "fmi3SetString");
  if (has(description, FmiType::binary)) source.library->load(f.set_binary, "fmi3SetBinary");
  if (puts_out(description, FmiType::string)) source.library->load(f.string.get, "fmi3GetString");
  if (puts_out(description, FmiType::binary)) source.library->load(f.get_binary, "fmi3GetBinary");
}

void load_model_exchange(const FmuSource& source, fmi3::Functions& f) {
  source.library->load_pointer(f.instantiate_model_exchange, "fmi3InstantiateModelExchange");
  source.library->load(f.update_discrete_states, "fmi3UpdateDiscreteStates");
  if (source.interface().completed_step)
    source.library->load(f.completed_integrator_step, "fmi3CompletedIntegratorStep");
}

void load_co_simulation(const FmuSource& source, fmi3::Functions& f) {
  const FmiInterface& interface = source.interface();
  source.library->load_pointer(f.instantiate_co_simulation, "fmi3InstantiateCoSimulation");
  source.library->load(f.do_step, "fmi3DoStep");
  if (interface.event_mode) {
    source.library->load(f.update_discrete_states, "fmi3UpdateDiscreteStates");
    source.library->load(f.enter_step_mode, "fmi3EnterStepMode");
  }
  if (interface.output_derivative_order > 0)
    source.library->load(f.get_output_derivatives, "fmi3GetOutputDerivatives");
}

}  // namespace

fmi3::Functions load_fmi3_functions(const FmuSource& source) {
  fmi3::Functions f;
  source.library->load(f.enter_initialization_mode, "fmi3EnterInitializationMode");
  load_accesses(source, f);
  if (source.interface().directional)
    source.library->load(f.get_directional_derivative, "fmi3GetDirectionalDerivative");
  if (source.role == FmuRole::co_simulation)
    load_co_simulation(source, f);
  else
    load_model_exchange(source, f);
  return f;
}

}  // namespace concord
