#include "subsystem/fmu/binary/fmi3_functions.hpp"

#include <algorithm>
#include <string>

namespace concord {

namespace {

template <class Value>
void load_access(const FmuSource& source, std::initializer_list<FmiType> users, const char* name,
                 fmi3::Access<Value>& access) {
  if (std::none_of(users.begin(), users.end(),
                   [&](FmiType type) { return has_type(*source.description, type); }))
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
  if (has_type(description, FmiType::string)) source.library->load(f.string.set, "fmi3SetString");
  if (has_type(description, FmiType::binary)) source.library->load(f.set_binary, "fmi3SetBinary");
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

void load_scheduled_execution(const FmuSource& source, fmi3::Functions& f) {
  source.library->load_pointer(f.instantiate_scheduled_execution,
                               "fmi3InstantiateScheduledExecution");
  source.library->load(f.activate_model_partition, "fmi3ActivateModelPartition");
}

/// Intervals, where the description leaves them to the FMU; the shift, where it has one.
void load_timing(const FmuSource& source, const FmiClock& clock, fmi3::Functions& f) {
  if (!clock.is_time_based() || clock.period) return;
  if (clock.fractions)
    source.library->load(f.get_interval_fraction, "fmi3GetIntervalFraction");
  else
    source.library->load(f.get_interval_decimal, "fmi3GetIntervalDecimal");
  if (!clock.is_periodic()) return;
  if (clock.fractions)
    source.library->load(f.get_shift_fraction, "fmi3GetShiftFraction");
  else
    source.library->load(f.get_shift_decimal, "fmi3GetShiftDecimal");
}

void load_clocks(const FmuSource& source, fmi3::Functions& f) {
  for (const FmiVariable& variable : source.description->variables) {
    if (!variable.clock) continue;
    if (variable.causality == FmiCausality::output)
      source.library->load(f.get_clock, "fmi3GetClock");
    if (variable.causality != FmiCausality::input) continue;
    if (source.role != FmuRole::scheduled_execution)
      source.library->load(f.set_clock, "fmi3SetClock");
    load_timing(source, *variable.clock, f);
  }
}

}  // namespace

fmi3::Functions load_fmi3_functions(const FmuSource& source) {
  fmi3::Functions f;
  source.library->load(f.enter_initialization_mode, "fmi3EnterInitializationMode");
  load_accesses(source, f);
  if (source.interface().directional)
    source.library->load(f.get_directional_derivative, "fmi3GetDirectionalDerivative");
  load_clocks(source, f);
  if (source.role == FmuRole::co_simulation)
    load_co_simulation(source, f);
  else if (source.role == FmuRole::model_exchange)
    load_model_exchange(source, f);
  else
    load_scheduled_execution(source, f);
  return f;
}

}  // namespace concord
