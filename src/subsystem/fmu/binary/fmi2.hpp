#pragma once

#include <cstddef>

#include "subsystem/fmu/binary/fmi_function.hpp"

/// The C interface of FMI 2.0.4, sections 2.1 to 4.2, under the standard's function names.
namespace concord::fmi2 {

using Component = void*;
using Environment = void*;
using Reference = unsigned int;
using Real = double;
using Integer = int;
using Boolean = int;
using String = const char*;

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

/// Beside CommonFunctions.
struct Functions {
  Component (*instantiate)(String, Type, String, String, const Callbacks*, Boolean,
                           Boolean) = nullptr;
  FmiFunction<Boolean, Real, Real, Boolean, Real> setup_experiment;
  FmiFunction<> enter_initialization_mode;
  FmiGet<Real> get_real;
  FmiGet<Integer> get_integer;
  FmiGet<Boolean> get_boolean;
  FmiGet<String> get_string;
  FmiSet<Real> set_real;
  FmiSet<Integer> set_integer;
  FmiSet<Boolean> set_boolean;
  FmiSet<String> set_string;
  FmiFunction<const Reference*, std::size_t, const Reference*, std::size_t, const Real*, Real*>
      get_directional_derivative;
  // model exchange
  FmiFunction<EventInfo*> new_discrete_states;
  FmiFunction<Boolean, Boolean*, Boolean*> completed_integrator_step;
  // co-simulation
  FmiFunction<const Reference*, std::size_t, const Integer*, const Real*>
      set_real_input_derivatives;
  FmiFunction<const Reference*, std::size_t, const Integer*, Real*> get_real_output_derivatives;
  FmiFunction<Real, Real, Boolean> do_step;
  FmiFunction<StatusKind, Real*> get_real_status;
  FmiFunction<StatusKind, Boolean*> get_boolean_status;
};

}  // namespace concord::fmi2
