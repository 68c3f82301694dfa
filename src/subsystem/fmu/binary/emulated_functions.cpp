#include "subsystem/fmu/binary/emulated_functions.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "subsystem/fmu/binary/common_functions.hpp"
#include "subsystem/fmu/binary/fmi1.hpp"
#include "subsystem/fmu/binary/fmi2.hpp"
#include "subsystem/fmu/binary/fmi3.hpp"
#include "subsystem/fmu/binary/marshalled_call.hpp"
#include "support/foreign_call.hpp"

namespace concord {

namespace {

thread_local std::shared_ptr<EmulatedBinary> being_instantiated;

/// Text as an argument of a template.
template <std::size_t n>
struct FunctionName {
  constexpr FunctionName(const char (&name)[n]) { std::copy_n(name, n, text); }
  char text[n];
};

/// What an FMU's instance is to whoever calls its functions.
class EmulatedInstance {
 public:
  explicit EmulatedInstance(std::shared_ptr<EmulatedBinary> binary)
      : binary_(std::move(binary)), process_(binary_->take_process()) {}

  /// Its status; `take` reads what the FMU has filled.
  template <class Put, class Take>
  int call(const char* function, const Put& put, const Take& take) {
    writer_.clear();
    put(writer_);
    texts_.clear();
    MessageReader answer = process_->call(function, writer_.bytes(), callbacks);
    const auto status = understood([&] { return answer.taken<std::int32_t>(); });
    if (status == 0 || status == 1) understood([&] { take(answer), ensure_end(answer); });
    return status;
  }

  void leave_process() { binary_->take_back(std::move(process_)); }
  const EmulatedProcess& process() const { return *process_; }
  std::deque<std::string>& texts() { return texts_; }

  EmulatedCallbacks callbacks;

 private:
  template <class Read>
  static auto understood(const Read& read) {
    try {
      return read();
    } catch (const SimulationError&) {
      throw EmulationEnd("answers nonsense");
    }
  }
  static void ensure_end(const MessageReader& answer) {
    if (!answer.is_at_end()) throw SimulationError("more than an answer");
  }

  std::shared_ptr<EmulatedBinary> binary_;
  std::unique_ptr<EmulatedProcess> process_;
  MessageWriter writer_;
  std::deque<std::string> texts_;  ///< those of the last call
};

/// The end of the process is one of the call.
template <class Work>
auto ending_with_process(const Work& work) {
  static std::string why;
  try {
    return work();
  } catch (const EmulationEnd& end) {
    why = end.what();
  }
  end_foreign_call(why.c_str());
}

template <FunctionName name, class... Parameters>
int call_emulated(void* instance, Parameters... arguments) {
  auto& there = *static_cast<EmulatedInstance*>(instance);
  const MarshalledCall<Parameters...> call(arguments...);
  return ending_with_process([&] {
    return there.call(
        name.text, [&](MessageWriter& writer) { call.put(writer); },
        [&](MessageReader& answer) { call.take(answer, there.texts()); });
  });
}

int get_emulated_binary(void* instance, const fmi3::Reference* references, std::size_t count,
                        std::size_t* sizes, fmi3::Binary* values, std::size_t value_count) {
  auto& there = *static_cast<EmulatedInstance*>(instance);
  return ending_with_process([&] {
    return there.call(
        "fmi3GetBinary",
        [&](MessageWriter& writer) { writer.put(std::span(references, count), value_count); },
        [&](MessageReader& answer) {
          for (std::size_t i = 0; i < value_count; ++i) {
            const std::string& bytes = there.texts().emplace_back(answer.taken<std::string>());
            sizes[i] = bytes.size();
            values[i] = reinterpret_cast<fmi3::Binary>(bytes.data());
          }
        });
  });
}

int set_emulated_binary(void* instance, const fmi3::Reference* references, std::size_t count,
                        const std::size_t* sizes, const fmi3::Binary* values,
                        std::size_t value_count) {
  auto& there = *static_cast<EmulatedInstance*>(instance);
  const auto put = [&](MessageWriter& writer) {
    writer.put(std::span(references, count), value_count);
    for (std::size_t i = 0; i < value_count; ++i) writer.put(std::span(values[i], sizes[i]));
  };
  return ending_with_process(
      [&] { return there.call("fmi3SetBinary", put, [](MessageReader&) {}); });
}

std::string text_of(const char* text) { return text != nullptr ? text : ""; }

/// `put` writes the arguments, for an instance with these callbacks.
template <class Put>
void* instantiate_emulated(const char* function, EmulatedCallbacks callbacks, const Put& put) {
  return ending_with_process([&]() -> void* {
    auto made = std::make_unique<EmulatedInstance>(being_instantiated);
    made->callbacks = std::move(callbacks);
    const int status = made->call(
        function, [&](MessageWriter& writer) { put(writer, made->process()); },
        [](MessageReader&) {});
    return status == 0 ? made.release() : nullptr;
  });
}

template <FunctionName name>
void free_emulated(void* instance) {
  const std::unique_ptr<EmulatedInstance> there(static_cast<EmulatedInstance*>(instance));
  ending_with_process([&] {
    return there->call(
        name.text, [](MessageWriter&) {}, [](MessageReader&) {});
  });
  there->leave_process();
}

template <class Callbacks>
EmulatedCallbacks formatted_log(const Callbacks& own, void* environment) {
  return {.log = [log = own.logger, environment](int status, const char* text) {
    using Status =
        std::conditional_t<std::is_same_v<Callbacks, fmi2::Callbacks>, fmi2::Status, fmi1::Status>;
    log(environment, "", static_cast<Status>(status), "", "%s", text);
  }};
}

void* instantiate_model(fmi1::String name, fmi1::String token, fmi1::ModelCallbacks own,
                        fmi1::Boolean logging) {
  return instantiate_emulated("fmiInstantiateModel", formatted_log(own, nullptr),
                              [&](MessageWriter& writer, const EmulatedProcess&) {
                                writer.put(text_of(name), text_of(token), logging);
                              });
}

void* instantiate_slave(fmi1::String name, fmi1::String token, fmi1::String location,
                        fmi1::String type, fmi1::Real timeout, fmi1::Boolean visible,
                        fmi1::Boolean interactive, fmi1::SlaveCallbacks own,
                        fmi1::Boolean logging) {
  return instantiate_emulated("fmiInstantiateSlave", formatted_log(own, nullptr),
                              [&](MessageWriter& writer, const EmulatedProcess& there) {
                                writer.put(text_of(name), text_of(token),
                                           there.uri_there(text_of(location)), text_of(type),
                                           timeout, visible, interactive, logging);
                              });
}

void* instantiate_fmi2(fmi2::String name, fmi2::Type type, fmi2::String token,
                       fmi2::String resources, const fmi2::Callbacks* own, fmi2::Boolean visible,
                       fmi2::Boolean logging) {
  return instantiate_emulated("fmi2Instantiate", formatted_log(*own, own->environment),
                              [&](MessageWriter& writer, const EmulatedProcess& there) {
                                writer.put(text_of(name), type, text_of(token),
                                           there.uri_there(text_of(resources)), visible, logging);
                              });
}

EmulatedCallbacks plain_log(fmi3::Environment environment, fmi3::LogMessage log) {
  return {.log = [log, environment](int status, const char* text) {
    log(environment, static_cast<fmi3::Status>(status), "", text);
  }};
}

void* instantiate_exchange(fmi3::String name, fmi3::String token, fmi3::String resources,
                           bool visible, bool logging, fmi3::Environment environment,
                           fmi3::LogMessage log) {
  return instantiate_emulated("fmi3InstantiateModelExchange", plain_log(environment, log),
                              [&](MessageWriter& writer, const EmulatedProcess& there) {
                                writer.put(text_of(name), text_of(token),
                                           there.path_there(text_of(resources)), visible, logging);
                              });
}

void* instantiate_steps(fmi3::String name, fmi3::String token, fmi3::String resources, bool visible,
                        bool logging, bool events, bool early, const fmi3::Reference* intermediate,
                        std::size_t count, fmi3::Environment environment, fmi3::LogMessage log,
                        fmi3::IntermediateUpdate update) {
  EmulatedCallbacks callbacks = plain_log(environment, log);
  if (update != nullptr)
    callbacks.update = [update, environment](double time, bool set_requested) {
      bool return_requested = false;
      double return_time = time;
      update(environment, time, set_requested, false, false, false, &return_requested,
             &return_time);
    };
  return instantiate_emulated(
      "fmi3InstantiateCoSimulation", std::move(callbacks),
      [&](MessageWriter& writer, const EmulatedProcess& there) {
        writer.put(text_of(name), text_of(token), there.path_there(text_of(resources)), visible,
                   logging, events, early, std::span(intermediate, count), update != nullptr);
      });
}

void* instantiate_scheduled(fmi3::String name, fmi3::String token, fmi3::String resources,
                            bool visible, bool logging, fmi3::Environment environment,
                            fmi3::LogMessage log, fmi3::ClockUpdate clock_update,
                            fmi3::Preemption /*lock*/, fmi3::Preemption /*unlock*/) {
  EmulatedCallbacks callbacks = plain_log(environment, log);
  callbacks.clock = [clock_update, environment] { clock_update(environment); };
  return instantiate_emulated("fmi3InstantiateScheduledExecution", std::move(callbacks),
                              [&](MessageWriter& writer, const EmulatedProcess& there) {
                                writer.put(text_of(name), text_of(token),
                                           there.path_there(text_of(resources)), visible, logging);
                              });
}

/// Functions by their names, with the arguments that those who load them expect.
class FunctionTable {
 public:
  template <FunctionName name, class... Parameters>
  void add(FmiFunction<Parameters...>* /*like*/) {
    all_[name.text] = reinterpret_cast<void*>(&call_emulated<name, Parameters...>);
  }
  /// The two of a type.
  template <FunctionName get, FunctionName set, class Access>
  void add_access(Access* /*like*/) {
    add<get>(static_cast<decltype(Access::get)*>(nullptr));
    add<set>(static_cast<decltype(Access::set)*>(nullptr));
  }
  template <class Function>
  void add(const char* name, Function* function) {
    all_[name] = reinterpret_cast<void*>(function);
  }
  void* find(std::string_view name) const {
    const auto found = all_.find(name);
    return found == all_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, void*> all_;
};

void add_common(FunctionTable& table) {
  CommonFunctions f;
  table.add<"fmi2ExitInitializationMode">(&f.exit_initialization_mode);
  table.add<"fmi3ExitInitializationMode">(&f.exit_initialization_mode);
  table.add<"fmiTerminate">(&f.terminate);
  table.add<"fmiTerminateSlave">(&f.terminate);
  table.add<"fmi2Terminate">(&f.terminate);
  table.add<"fmi3Terminate">(&f.terminate);
  table.add<"fmi2EnterEventMode">(&f.enter_event_mode);
  table.add<"fmi3EnterEventMode">(&f.enter_event_mode);
  table.add<"fmi2GetFMUstate">(&f.get_state);
  table.add<"fmi3GetFMUState">(&f.get_state);
  table.add<"fmi2FreeFMUstate">(&f.free_state);
  table.add<"fmi3FreeFMUState">(&f.free_state);
  table.add<"fmi2SetFMUstate">(&f.set_state);
  table.add<"fmi3SetFMUState">(&f.set_state);
  table.add<"fmi2SerializedFMUstateSize">(&f.serialized_size);
  table.add<"fmi3SerializedFMUStateSize">(&f.serialized_size);
  table.add<"fmi2SerializeFMUstate">(&f.serialize);
  table.add<"fmi3SerializeFMUState">(&f.serialize);
  table.add<"fmi2DeSerializeFMUstate">(&f.deserialize);
  table.add<"fmi3DeserializeFMUState">(&f.deserialize);
  table.add<"fmi2EnterContinuousTimeMode">(&f.enter_continuous_time_mode);
  table.add<"fmi3EnterContinuousTimeMode">(&f.enter_continuous_time_mode);
  table.add<"fmiSetTime">(&f.set_time);
  table.add<"fmi2SetTime">(&f.set_time);
  table.add<"fmi3SetTime">(&f.set_time);
  table.add<"fmiSetContinuousStates">(&f.set_continuous_states);
  table.add<"fmi2SetContinuousStates">(&f.set_continuous_states);
  table.add<"fmi3SetContinuousStates">(&f.set_continuous_states);
  table.add<"fmiGetContinuousStates">(&f.get_continuous_states);
  table.add<"fmi2GetContinuousStates">(&f.get_continuous_states);
  table.add<"fmi3GetContinuousStates">(&f.get_continuous_states);
  table.add<"fmiGetDerivatives">(&f.get_derivatives);
  table.add<"fmi2GetDerivatives">(&f.get_derivatives);
  table.add<"fmi3GetContinuousStateDerivatives">(&f.get_derivatives);
  table.add<"fmiGetEventIndicators">(&f.get_event_indicators);
  table.add<"fmi2GetEventIndicators">(&f.get_event_indicators);
  table.add<"fmi3GetEventIndicators">(&f.get_event_indicators);
  table.add("fmiFreeModelInstance", free_emulated<"fmiFreeModelInstance">);
  table.add("fmiFreeSlaveInstance", free_emulated<"fmiFreeSlaveInstance">);
  table.add("fmi2FreeInstance", free_emulated<"fmi2FreeInstance">);
  table.add("fmi3FreeInstance", free_emulated<"fmi3FreeInstance">);
}

void add_fmi1(FunctionTable& table) {
  fmi1::Functions f;
  table.add<"fmiGetReal">(&f.get_real);
  table.add<"fmiSetReal">(&f.set_real);
  table.add<"fmiGetInteger">(&f.get_integer);
  table.add<"fmiSetInteger">(&f.set_integer);
  table.add<"fmiGetBoolean">(&f.get_boolean);
  table.add<"fmiSetBoolean">(&f.set_boolean);
  table.add<"fmiGetString">(&f.get_string);
  table.add<"fmiSetString">(&f.set_string);
  table.add<"fmiSetRealInputDerivatives">(&f.set_real_input_derivatives);
  table.add<"fmiGetRealOutputDerivatives">(&f.get_real_output_derivatives);
  table.add<"fmiDoStep">(&f.do_step);
  table.add<"fmiGetRealStatus">(&f.get_real_status);
  table.add<"fmiInitialize">(&f.initialize);
  table.add<"fmiEventUpdate">(&f.event_update);
  table.add<"fmiCompletedIntegratorStep">(&f.completed_integrator_step);
  table.add<"fmiGetStateValueReferences">(&f.get_state_value_references);
  table.add<"fmiInitializeSlave">(&f.initialize_slave);
  table.add("fmiInstantiateModel", instantiate_model);
  table.add("fmiInstantiateSlave", instantiate_slave);
}

void add_fmi2(FunctionTable& table) {
  fmi2::Functions f;
  table.add<"fmi2GetReal">(&f.get_real);
  table.add<"fmi2SetReal">(&f.set_real);
  table.add<"fmi2GetInteger">(&f.get_integer);
  table.add<"fmi2SetInteger">(&f.set_integer);
  table.add<"fmi2GetBoolean">(&f.get_boolean);
  table.add<"fmi2SetBoolean">(&f.set_boolean);
  table.add<"fmi2GetString">(&f.get_string);
  table.add<"fmi2SetString">(&f.set_string);
  table.add<"fmi2SetRealInputDerivatives">(&f.set_real_input_derivatives);
  table.add<"fmi2GetRealOutputDerivatives">(&f.get_real_output_derivatives);
  table.add<"fmi2DoStep">(&f.do_step);
  table.add<"fmi2GetRealStatus">(&f.get_real_status);
  table.add<"fmi2SetupExperiment">(&f.setup_experiment);
  table.add<"fmi2EnterInitializationMode">(&f.enter_initialization_mode);
  table.add<"fmi2GetDirectionalDerivative">(&f.get_directional_derivative);
  table.add<"fmi2NewDiscreteStates">(&f.new_discrete_states);
  table.add<"fmi2CompletedIntegratorStep">(&f.completed_integrator_step);
  table.add<"fmi2GetBooleanStatus">(&f.get_boolean_status);
  table.add("fmi2Instantiate", instantiate_fmi2);
}

void add_fmi3(FunctionTable& table) {
  fmi3::Functions f;
  table.add<"fmi3EnterInitializationMode">(&f.enter_initialization_mode);
  table.add<"fmi3EnterConfigurationMode">(&f.enter_configuration_mode);
  table.add<"fmi3ExitConfigurationMode">(&f.exit_configuration_mode);
  table.add<"fmi3GetDirectionalDerivative">(&f.get_directional_derivative);
  table.add<"fmi3UpdateDiscreteStates">(&f.update_discrete_states);
  table.add<"fmi3SetClock">(&f.set_clock);
  table.add<"fmi3GetClock">(&f.get_clock);
  table.add<"fmi3GetIntervalDecimal">(&f.get_interval_decimal);
  table.add<"fmi3GetIntervalFraction">(&f.get_interval_fraction);
  table.add<"fmi3GetShiftDecimal">(&f.get_shift_decimal);
  table.add<"fmi3GetShiftFraction">(&f.get_shift_fraction);
  table.add<"fmi3CompletedIntegratorStep">(&f.completed_integrator_step);
  table.add<"fmi3EnterStepMode">(&f.enter_step_mode);
  table.add<"fmi3GetOutputDerivatives">(&f.get_output_derivatives);
  table.add<"fmi3DoStep">(&f.do_step);
  table.add<"fmi3ActivateModelPartition">(&f.activate_model_partition);
  table.add_access<"fmi3GetFloat32", "fmi3SetFloat32">(&f.float32);
  table.add_access<"fmi3GetFloat64", "fmi3SetFloat64">(&f.float64);
  table.add_access<"fmi3GetInt8", "fmi3SetInt8">(&f.int8);
  table.add_access<"fmi3GetUInt8", "fmi3SetUInt8">(&f.uint8);
  table.add_access<"fmi3GetInt16", "fmi3SetInt16">(&f.int16);
  table.add_access<"fmi3GetUInt16", "fmi3SetUInt16">(&f.uint16);
  table.add_access<"fmi3GetInt32", "fmi3SetInt32">(&f.int32);
  table.add_access<"fmi3GetUInt32", "fmi3SetUInt32">(&f.uint32);
  table.add_access<"fmi3GetInt64", "fmi3SetInt64">(&f.int64);
  table.add_access<"fmi3GetUInt64", "fmi3SetUInt64">(&f.uint64);
  table.add_access<"fmi3GetBoolean", "fmi3SetBoolean">(&f.boolean);
  table.add_access<"fmi3GetString", "fmi3SetString">(&f.string);
  table.add("fmi3GetBinary", get_emulated_binary);
  table.add("fmi3SetBinary", set_emulated_binary);
  table.add("fmi3InstantiateModelExchange", instantiate_exchange);
  table.add("fmi3InstantiateCoSimulation", instantiate_steps);
  table.add("fmi3InstantiateScheduledExecution", instantiate_scheduled);
}

FunctionTable whole_table() {
  FunctionTable table;
  add_common(table);
  add_fmi1(table);
  add_fmi2(table);
  add_fmi3(table);
  return table;
}

}  // namespace

void* emulated_function(std::string_view name) {
  static const FunctionTable table = whole_table();
  return table.find(name);
}

EmulatedInstantiation::EmulatedInstantiation(std::shared_ptr<EmulatedBinary> binary)
    : outer_(std::exchange(being_instantiated, std::move(binary))) {}
EmulatedInstantiation::~EmulatedInstantiation() { being_instantiated = std::move(outer_); }

}  // namespace concord
