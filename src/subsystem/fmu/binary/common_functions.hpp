#pragma once

#include <cstddef>
#include <string>

#include "subsystem/fmu/binary/fmi_function.hpp"

namespace concord {

struct FmuSource;

/// What has the same C interface in FMI 2.0.4 and 3.0.2, and in 1.0 where that has it at all.
struct CommonFunctions {
  void (*free_instance)(void*) = nullptr;
  std::string free_instance_name;
  FmiFunction<> exit_initialization_mode, terminate, enter_event_mode;
  FmiFunction<void**> get_state, free_state;
  FmiFunction<void*> set_state;
  FmiFunction<void*, std::size_t*> serialized_size;
  FmiFunction<void*, void*, std::size_t> serialize;
  FmiFunction<const void*, std::size_t, void**> deserialize;
  // model exchange
  FmiFunction<> enter_continuous_time_mode;
  FmiFunction<double> set_time;
  FmiFunction<const double*, std::size_t> set_continuous_states;
  FmiFunction<double*, std::size_t> get_continuous_states, get_derivatives, get_event_indicators;
};

/// Loads what the role and the capabilities call for. Throws InputError where the binary lacks it.
CommonFunctions load_common_functions(const FmuSource& source);

}  // namespace concord
