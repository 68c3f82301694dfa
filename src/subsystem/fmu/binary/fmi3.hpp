#pragma once

#include <cstddef>
#include <cstdint>

#include "subsystem/fmu/binary/fmi_function.hpp"

/// The C interface of FMI 3.0.2, sections 2.2 to 5.2, under the standard's function names.
namespace concord::fmi3 {

using Instance = void*;
using Environment = void*;
using Reference = std::uint32_t;
using String = const char*;
using Binary = const std::uint8_t*;

enum Status : int { ok, warning, discard, error, fatal };

using LogMessage = void (*)(Environment, Status, String category, String message);
using IntermediateUpdate = void (*)(Environment, double time, bool set_requested, bool get_allowed,
                                    bool step_finished, bool can_return_early,
                                    bool* return_requested, double* return_time);

using ClockUpdate = void (*)(Environment);
using Preemption = void (*)();

template <class Value>
struct Access {
  FmiFunction<const Reference*, std::size_t, Value*, std::size_t> get;
  FmiFunction<const Reference*, std::size_t, const Value*, std::size_t> set;
};

/// Beside CommonFunctions.
struct Functions {
  Instance (*instantiate_model_exchange)(String, String, String, bool, bool, Environment,
                                         LogMessage) = nullptr;
  Instance (*instantiate_co_simulation)(String, String, String, bool, bool, bool, bool,
                                        const Reference*, std::size_t, Environment, LogMessage,
                                        IntermediateUpdate) = nullptr;
  Instance (*instantiate_scheduled_execution)(String, String, String, bool, bool, Environment,
                                              LogMessage, ClockUpdate, Preemption,
                                              Preemption) = nullptr;
  FmiFunction<bool, double, double, bool, double> enter_initialization_mode;
  FmiFunction<> enter_configuration_mode, exit_configuration_mode;
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
  Access<String> string;
  FmiFunction<const Reference*, std::size_t, std::size_t*, Binary*, std::size_t> get_binary;
  FmiFunction<const Reference*, std::size_t, const std::size_t*, const Binary*, std::size_t>
      set_binary;
  FmiFunction<const Reference*, std::size_t, const Reference*, std::size_t, const double*,
              std::size_t, double*, std::size_t>
      get_directional_derivative;
  FmiFunction<bool*, bool*, bool*, bool*, bool*, double*> update_discrete_states;
  // clocks
  FmiFunction<const Reference*, std::size_t, const bool*> set_clock;
  FmiFunction<const Reference*, std::size_t, bool*> get_clock;
  FmiFunction<const Reference*, std::size_t, double*, int*> get_interval_decimal;
  FmiFunction<const Reference*, std::size_t, std::uint64_t*, std::uint64_t*, int*>
      get_interval_fraction;
  FmiFunction<const Reference*, std::size_t, double*> get_shift_decimal;
  FmiFunction<const Reference*, std::size_t, std::uint64_t*, std::uint64_t*> get_shift_fraction;
  // model exchange
  FmiFunction<bool, bool*, bool*> completed_integrator_step;
  // co-simulation
  FmiFunction<> enter_step_mode;
  FmiFunction<const Reference*, std::size_t, const std::int32_t*, double*, std::size_t>
      get_output_derivatives;
  FmiFunction<double, double, bool, bool*, bool*, bool*, double*> do_step;
  // scheduled execution
  FmiFunction<Reference, double> activate_model_partition;
};

}  // namespace concord::fmi3
