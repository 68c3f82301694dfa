#pragma once

#include <cstdint>
#include <limits>

#include "concord/subsystem.hpp"

namespace concord {

/// What a subsystem in another process is asked for.
enum class RemoteFunction : std::uint8_t {
  make,
  describe,
  release,
  end,
  note_use,
  start,
  start_from,
  end_initialization,
  enter,
  advance,
  follow,
  point_outputs,
  output_curvatures,
  states,
  state_derivatives,
  linearize,
  keeps,
  derivatives_at,
  outputs_at,
  linearize_at,
  output_curvatures_at,
  retrace,
  next_event,
  happen,
  set_parameter,
  parameter,
  save,
  restore,
  write_memory,
  read_memory,
  complete_step,
  tells_grazes,
  grazes,
  take_errors,
  jumps,
  discrete_count,
  pass_discrete,
  put_out_texts,
  take_texts,
  model_interface,
  model_derivatives,
  model_outputs,
  model_set_parameter,
  model_jacobians,
  model_time_derivatives,
  model_output_slopes,
  model_output_curvatures
};

constexpr const char* name_of(RemoteFunction function) {
  constexpr const char* names[] = {"making it",
                                   "reading its interface",
                                   "freeing it",
                                   "its end",
                                   "note_use",
                                   "start",
                                   "start_from",
                                   "end_initialization",
                                   "enter",
                                   "advance",
                                   "follow",
                                   "point_outputs",
                                   "output_curvatures",
                                   "states",
                                   "state_derivatives",
                                   "linearize",
                                   "keeps",
                                   "derivatives_at",
                                   "outputs_at",
                                   "linearize_at",
                                   "output_curvatures_at",
                                   "retrace",
                                   "next_event",
                                   "happen",
                                   "set_parameter",
                                   "parameter",
                                   "save",
                                   "restore",
                                   "saving its memory",
                                   "reading its memory",
                                   "complete_step",
                                   "asking whether it tells of events",
                                   "grazes",
                                   "take_errors",
                                   "jumps",
                                   "discrete_count",
                                   "pass_discrete",
                                   "putting out texts",
                                   "taking texts",
                                   "interface",
                                   "derivatives",
                                   "outputs",
                                   "set_parameter",
                                   "jacobians",
                                   "time_derivatives",
                                   "output_slopes",
                                   "output_curvatures"};
  static_assert(sizeof names / sizeof *names ==
                static_cast<std::size_t>(RemoteFunction::model_output_curvatures) + 1);
  return names[static_cast<std::size_t>(function)];
}

/// How a call has ended: `done`, Outcome::failed, an exception of that kind, or the end of the
/// process by its foreign code.
enum class Ending : std::uint8_t {
  done,
  failed,
  input_error,
  simulation_error,
  end_of_simulation,
  recoverable_failure,
  foreign_end
};

/// Leads every answer: what is known of the subsystem after the call. A text follows where the
/// call is not done, what was asked for where it is.
struct CallStatus {
  Ending ending = Ending::done;
  bool initializing = false;
  bool retraces = false;
  bool events = false;
  bool equations = false;  ///< Subsystem::equations is not null
  bool texts = false;      ///< Subsystem::texts is not null
  Capabilities capabilities;
  double next_time_event = std::numeric_limits<double>::infinity();
  Counters counters;
};

}  // namespace concord
