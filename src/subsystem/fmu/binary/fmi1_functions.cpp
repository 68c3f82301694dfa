#include "subsystem/fmu/binary/fmi1_functions.hpp"

#include <string_view>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

/// "left_", before the name of every function.
std::string symbol_prefix(const FmuSource& source) {
  return source.interface().model_identifier + "_";
}

/// Calls with other types would be wrong, however they are called.
void require_known_types(const FmuSource& source, const char* function) {
  constexpr std::string_view known = "standard32";
  const char* (*types)() = nullptr;
  if (!source.library->load_pointer_if_there(types, symbol_prefix(source) + function)) return;
  const char* found = types();
  if (found != nullptr && found != known)
    throw InputError(source.library->fmu() + ": its binary has the types of " + in_quotes(found) +
                     ", not those of 'standard32', the only ones that Concord has; export it with "
                     "these, or as FMI 2.0");
}

void load_model_exchange(const FmuSource& source, fmi1::Functions& f) {
  const FmuLibrary& library = *source.library;
  const std::string prefix = symbol_prefix(source);
  require_known_types(source, "fmiGetModelTypesPlatform");
  library.load_pointer(f.instantiate_model, prefix + "fmiInstantiateModel");
  library.load(f.initialize, "fmiInitialize", prefix);
  library.load(f.event_update, "fmiEventUpdate", prefix);
  library.load(f.completed_integrator_step, "fmiCompletedIntegratorStep", prefix);
  library.load_if_there(f.get_state_value_references, "fmiGetStateValueReferences", prefix);
}

void load_co_simulation(const FmuSource& source, fmi1::Functions& f) {
  const FmuLibrary& library = *source.library;
  const std::string prefix = symbol_prefix(source);
  require_known_types(source, "fmiGetTypesPlatform");
  library.load_pointer(f.instantiate_slave, prefix + "fmiInstantiateSlave");
  library.load(f.initialize_slave, "fmiInitializeSlave", prefix);
  library.load(f.do_step, "fmiDoStep", prefix);
  library.load_if_there(f.get_real_status, "fmiGetRealStatus", prefix);
  if (source.interface().interpolates)
    library.load(f.set_real_input_derivatives, "fmiSetRealInputDerivatives", prefix);
  if (source.interface().output_derivative_order > 0)
    library.load(f.get_real_output_derivatives, "fmiGetRealOutputDerivatives", prefix);
}

}  // namespace

CommonFunctions load_fmi1_common_functions(const FmuSource& source) {
  const FmuLibrary& library = *source.library;
  const std::string prefix = symbol_prefix(source);
  const bool exchange = source.role == FmuRole::model_exchange;
  CommonFunctions f;
  f.free_instance_name = exchange ? "fmiFreeModelInstance" : "fmiFreeSlaveInstance";
  library.load_pointer(f.free_instance, prefix + f.free_instance_name);
  library.load(f.terminate, exchange ? "fmiTerminate" : "fmiTerminateSlave", prefix);
  if (!exchange) return f;
  library.load(f.set_time, "fmiSetTime", prefix);
  if (source.interface().unnamed_states > 0) {
    library.load(f.set_continuous_states, "fmiSetContinuousStates", prefix);
    library.load(f.get_continuous_states, "fmiGetContinuousStates", prefix);
    library.load(f.get_derivatives, "fmiGetDerivatives", prefix);
  }
  if (source.description->event_indicators > 0)
    library.load(f.get_event_indicators, "fmiGetEventIndicators", prefix);
  return f;
}

fmi1::Functions load_fmi1_functions(const FmuSource& source) {
  const FmuLibrary& library = *source.library;
  const ModelDescription& model = *source.description;
  const std::string prefix = symbol_prefix(source);
  fmi1::Functions f;
  if (has_type(model, FmiType::float64)) {
    library.load(f.get_real, "fmiGetReal", prefix);
    library.load(f.set_real, "fmiSetReal", prefix);
  }
  if (has_type(model, FmiType::int32) || has_type(model, FmiType::enumeration)) {
    library.load(f.get_integer, "fmiGetInteger", prefix);
    library.load(f.set_integer, "fmiSetInteger", prefix);
  }
  if (has_type(model, FmiType::boolean)) {
    library.load(f.get_boolean, "fmiGetBoolean", prefix);
    library.load(f.set_boolean, "fmiSetBoolean", prefix);
  }
  if (has_type(model, FmiType::string)) library.load(f.set_string, "fmiSetString", prefix);
  if (puts_out(model, FmiType::string)) library.load(f.get_string, "fmiGetString", prefix);
  if (source.role == FmuRole::model_exchange)
    load_model_exchange(source, f);
  else
    load_co_simulation(source, f);
  return f;
}

}  // namespace concord
