#pragma once

#include <cstddef>
#include <cstdint>

/// The C interface of FMI 3.0.2, sections 2.2 to 4.2, under the standard's function names.
namespace concord::fmi3 {

using Instance = void*;
using Environment = void*;
using State = void*;
using Reference = std::uint32_t;
using String = const char*;
using Byte = std::uint8_t;

enum Status : int { ok, warning, discard, error, fatal };

using LogMessage = void (*)(Environment, Status, String category, String message);
using IntermediateUpdate = void (*)(Environment, double time, bool set_requested, bool get_allowed,
                                    bool step_finished, bool can_return_early,
                                    bool* return_requested, double* return_time);

template <class Value>
using Get = Status (*)(Instance, const Reference*, std::size_t, Value*, std::size_t);
template <class Value>
using Set = Status (*)(Instance, const Reference*, std::size_t, const Value*, std::size_t);
using Plain = Status (*)(Instance);

template <class Value>
struct Access {
  Get<Value> get = nullptr;
  Set<Value> set = nullptr;
};

/// Null where the FMU doesn't have the function and nothing needs it.
struct Functions {
  String (*get_version)() = nullptr;
  Instance (*instantiate_model_exchange)(String, String, String, bool, bool, Environment,
                                         LogMessage) = nullptr;
  Instance (*instantiate_co_simulation)(String, String, String, bool, bool, bool, bool,
                                        const Reference*, std::size_t, Environment, LogMessage,
                                        IntermediateUpdate) = nullptr;
  void (*free_instance)(Instance) = nullptr;
  Status (*enter_initialization_mode)(Instance, bool, double, double, bool, double) = nullptr;
  Plain exit_initialization_mode = nullptr, terminate = nullptr, enter_event_mode = nullptr;
  Plain enter_configuration_mode = nullptr, exit_configuration_mode = nullptr;
  Access<float> float32;
  Access<double> float64;
  Access<std::int8_t> int8;
  Access<std::uint8_t> uint8;
  Access<std::int16_t> int16;
  Access<std::uint16_t> uint16;
  Access<std::int32_t> int32;
  Access<std::uint32_t> uint32;
  Access<std::int64_t> int64;
  Access<std::uint64_t> uint64;
  Access<bool> boolean;
  Set<String> set_string = nullptr;
  Status (*get_state)(Instance, State*) = nullptr;
  Status (*set_state)(Instance, State) = nullptr;
  Status (*free_state)(Instance, State*) = nullptr;
  Status (*serialized_size)(Instance, State, std::size_t*) = nullptr;
  Status (*serialize)(Instance, State, Byte*, std::size_t) = nullptr;
  Status (*deserialize)(Instance, const Byte*, std::size_t, State*) = nullptr;
  Status (*get_directional_derivative)(Instance, const Reference*, std::size_t, const Reference*,
                                       std::size_t, const double*, std::size_t, double*,
                                       std::size_t) = nullptr;
  Status (*update_discrete_states)(Instance, bool*, bool*, bool*, bool*, bool*, double*) = nullptr;
  // model exchange
  Plain enter_continuous_time_mode = nullptr;
  Status (*completed_integrator_step)(Instance, bool, bool*, bool*) = nullptr;
  Status (*set_time)(Instance, double) = nullptr;
  Status (*set_continuous_states)(Instance, const double*, std::size_t) = nullptr;
  Status (*get_derivatives)(Instance, double*, std::size_t) = nullptr;
  Status (*get_event_indicators)(Instance, double*, std::size_t) = nullptr;
  Status (*get_continuous_states)(Instance, double*, std::size_t) = nullptr;
  // co-simulation
  Plain enter_step_mode = nullptr;
  Status (*get_output_derivatives)(Instance, const Reference*, std::size_t, const std::int32_t*,
                                   double*, std::size_t) = nullptr;
  Status (*do_step)(Instance, double, double, bool, bool*, bool*, bool*, double*) = nullptr;
};

}  // namespace concord::fmi3
