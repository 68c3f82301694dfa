#include "subsystem/fmu/binary/common_functions.hpp"

#include "subsystem/fmu/binary/fmi1_functions.hpp"
#include "subsystem/fmu/binary/instance.hpp"

namespace concord {

CommonFunctions load_common_functions(const FmuSource& source) {
  const ModelDescription& model = *source.description;
  const FmiInterface& interface = source.interface();
  if (model.version == FmiVersion::v1) return load_fmi1_common_functions(source);
  const bool v2 = model.version == FmiVersion::v2;
  const auto load = [&](auto& function, const char* in_v2, const char* in_v3) {
    source.library->load(function, v2 ? std::string("fmi2") + in_v2 : std::string("fmi3") + in_v3);
  };
  const auto load_same = [&](auto& function, const char* name) { load(function, name, name); };
  CommonFunctions f;
  f.free_instance_name = v2 ? "fmi2FreeInstance" : "fmi3FreeInstance";
  source.library->load_pointer(f.free_instance, f.free_instance_name);
  load_same(f.exit_initialization_mode, "ExitInitializationMode");
  load_same(f.terminate, "Terminate");
  if (interface.state) {
    load(f.get_state, "GetFMUstate", "GetFMUState");
    load(f.set_state, "SetFMUstate", "SetFMUState");
    load(f.free_state, "FreeFMUstate", "FreeFMUState");
  }
  if (interface.serializes) {
    load(f.serialized_size, "SerializedFMUstateSize", "SerializedFMUStateSize");
    load(f.serialize, "SerializeFMUstate", "SerializeFMUState");
    load(f.deserialize, "DeSerializeFMUstate", "DeserializeFMUState");
  }
  if (source.role == FmuRole::model_exchange || interface.event_mode)
    load_same(f.enter_event_mode, "EnterEventMode");
  if (source.role != FmuRole::model_exchange) return f;
  load_same(f.enter_continuous_time_mode, "EnterContinuousTimeMode");
  load_same(f.set_time, "SetTime");
  if (!model.derivatives.empty()) {
    load_same(f.set_continuous_states, "SetContinuousStates");
    load_same(f.get_continuous_states, "GetContinuousStates");
    load(f.get_derivatives, "GetDerivatives", "GetContinuousStateDerivatives");
  }
  if (model.event_indicators > 0) load_same(f.get_event_indicators, "GetEventIndicators");
  return f;
}

}  // namespace concord
