#pragma once

#include <cstddef>

/// The C interface of FMI 2.0.4, sections 2.1 to 4.2, under the standard's function names.
namespace concord::fmi2 {

using Component = void*;
using Environment = void*;
using State = void*;
using Reference = unsigned int;
using Real = double;
using Integer = int;
using Boolean = int;
using String = const char*;
using Byte = char;

enum Status : int { ok, warning, discard, error, fatal, pending };
enum Type : int { model_exchange, co_simulation };
enum StatusKind : int { do_step_status, pending_status, last_successful_time, terminated };

struct EventInfo {
  Boolean new_discrete_states_needed;
  Boolean terminate_simulation;
  Boolean nominals_changed;
  Boolean states_changed;
  Boolean next_event_time_defined;
  Real next_event_time;
};

struct Callbacks {
  void (*logger)(Environment, String instance, Status, String category, String message, ...);
  void* (*allocate)(std::size_t count, std::size_t size);
  void (*release)(void*);
  void (*step_finished)(Environment, Status);
  Environment environment;
};

template <class Value>
using Get = Status (*)(Component, const Reference*, std::size_t, Value*);
template <class Value>
using Set = Status (*)(Component, const Reference*, std::size_t, const Value*);
using Plain = Status (*)(Component);

/// Null where the FMU doesn't have the function and nothing needs it.
struct Functions {
  String (*get_version)() = nullptr;
  Component (*instantiate)(String, Type, String, String, const Callbacks*, Boolean,
                           Boolean) = nullptr;
  void (*free_instance)(Component) = nullptr;
  Status (*setup_experiment)(Component, Boolean, Real, Real, Boolean, Real) = nullptr;
  Plain enter_initialization_mode = nullptr, exit_initialization_mode = nullptr;
  Plain terminate = nullptr;
  Get<Real> get_real = nullptr;
  Get<Integer> get_integer = nullptr;
  Get<Boolean> get_boolean = nullptr;
  Set<Real> set_real = nullptr;
  Set<Integer> set_integer = nullptr;
  Set<Boolean> set_boolean = nullptr;
  Set<String> set_string = nullptr;
  Status (*get_state)(Component, State*) = nullptr;
  Status (*set_state)(Component, State) = nullptr;
  Status (*free_state)(Component, State*) = nullptr;
  Status (*serialized_size)(Component, State, std::size_t*) = nullptr;
  Status (*serialize)(Component, State, Byte*, std::size_t) = nullptr;
  Status (*deserialize)(Component, const Byte*, std::size_t, State*) = nullptr;
  Status (*get_directional_derivative)(Component, const Reference*, std::size_t, const Reference*,
                                       std::size_t, const Real*, Real*) = nullptr;
  // model exchange
  Plain enter_event_mode = nullptr, enter_continuous_time_mode = nullptr;
  Status (*new_discrete_states)(Component, EventInfo*) = nullptr;
  Status (*completed_integrator_step)(Component, Boolean, Boolean*, Boolean*) = nullptr;
  Status (*set_time)(Component, Real) = nullptr;
  Status (*set_continuous_states)(Component, const Real*, std::size_t) = nullptr;
  Status (*get_derivatives)(Component, Real*, std::size_t) = nullptr;
  Status (*get_event_indicators)(Component, Real*, std::size_t) = nullptr;
  Status (*get_continuous_states)(Component, Real*, std::size_t) = nullptr;
  // co-simulation
  Status (*set_real_input_derivatives)(Component, const Reference*, std::size_t, const Integer*,
                                       const Real*) = nullptr;
  Status (*get_real_output_derivatives)(Component, const Reference*, std::size_t, const Integer*,
                                        Real*) = nullptr;
  Status (*do_step)(Component, Real, Real, Boolean) = nullptr;
  Status (*get_real_status)(Component, StatusKind, Real*) = nullptr;
  Status (*get_boolean_status)(Component, StatusKind, Boolean*) = nullptr;
};

}  // namespace concord::fmi2
