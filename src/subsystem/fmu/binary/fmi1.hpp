#pragma once

#include <cstddef>

#include "subsystem/fmu/binary/fmi_function.hpp"

/// The C interface of FMI 1.0 for model exchange (January 2010) and co-simulation (October 2010),
/// under the standard's function names, which stand behind the model's identifier in a binary.
namespace concord::fmi1 {

using Component = void*;
using Reference = unsigned int;
using Real = double;
using Integer = int;
using Boolean = char;
using String = const char*;

enum Status : int { ok, warning, discard, error, fatal, pending };
enum StatusKind : int { do_step_status, pending_status, last_successful_time };

struct EventInfo {
  Boolean iteration_converged;
  Boolean state_references_changed;
  Boolean states_changed;
  Boolean terminate_simulation;
  Boolean upcoming_time_event;
  Real next_event_time;
};

/// Passed by value.
struct ModelCallbacks {
  void (*logger)(Component, String instance, Status, String category, String message, ...);
  void* (*allocate)(std::size_t count, std::size_t size);
  void (*release)(void*);
};
struct SlaveCallbacks {
  void (*logger)(Component, String instance, Status, String category, String message, ...);
  void* (*allocate)(std::size_t count, std::size_t size);
  void (*release)(void*);
  void (*step_finished)(Component, Status);
};

/// Beside CommonFunctions.
struct Functions {
  FmiGet<Real> get_real;
  FmiGet<Integer> get_integer;
  FmiGet<Boolean> get_boolean;
  FmiGet<String> get_string;
  FmiSet<Real> set_real;
  FmiSet<Integer> set_integer;
  FmiSet<Boolean> set_boolean;
  FmiSet<String> set_string;
  // model exchange
  Component (*instantiate_model)(String, String, ModelCallbacks, Boolean) = nullptr;
  FmiFunction<Boolean, Real, EventInfo*> initialize;
  FmiFunction<Boolean, EventInfo*> event_update;
  FmiFunction<Boolean*> completed_integrator_step;
  FmiFunction<Reference*, std::size_t> get_state_value_references;
  // co-simulation
  Component (*instantiate_slave)(String, String, String, String, Real, Boolean, Boolean,
                                 SlaveCallbacks, Boolean) = nullptr;
  FmiFunction<Real, Boolean, Real> initialize_slave;
  FmiFunction<const Reference*, std::size_t, const Integer*, const Real*>
      set_real_input_derivatives;
  FmiFunction<const Reference*, std::size_t, const Integer*, Real*> get_real_output_derivatives;
  FmiFunction<Real, Real, Boolean> do_step;
  FmiFunction<StatusKind, Real*> get_real_status;
};

}  // namespace concord::fmi1
