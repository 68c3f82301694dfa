#include <utility>

#include "concord/errors.hpp"
#include "subsystem/fmu/co_simulation.hpp"
#include "subsystem/fmu/passed_state.hpp"

namespace concord {

/// Without event mode not before the next step: between a Set and a step nothing may be read.
Outcome CoSimulation::set_parameter(std::size_t parameter, double value) {
  if (!parameters_.take(parameter, value, failure_)) return Outcome::failed;
  bool good = true;
  if (instance_->mode() == FmuMode::initializing)
    good = parameters_.set(*instance_) || failed_call();
  else if (instance_->mode() != FmuMode::instantiated && use_.event_mode)
    good = set_parameters_in_event() && read_outputs() && read_states();
  else
    now_.parameters_due = instance_->mode() != FmuMode::instantiated;
  if (over_) throw EndOfSimulation(failure_);
  return good ? Outcome::ok : Outcome::failed;
}

bool CoSimulation::set_parameters_in_event() {
  EventOutcome outcome;
  if (!instance_->enter_event_mode() || !parameters_.set(*instance_) ||
      !iterate_events(*instance_, outcome))
    return failed_call();
  return take_events(outcome);
}

bool CoSimulation::set_due_parameters() {
  if (!std::exchange(now_.parameters_due, false)) [[likely]]
    return true;
  return parameters_.set(*instance_) || failed_call();
}

/// As the one was whose memory is read, which had turned out to have none.
bool CoSimulation::remade_without_event_mode() {
  instance_.reset();
  instance_ = FmuInstance::make(setup_->source(use_));
  return begin_initialization(*setup_, *instance_, start_, stop_, tolerance_) || failed_call();
}

/// How the FMU is used, its own state, and where it stands.
bool CoSimulation::pass_instance(Archive& archive) {
  auto reason = refusal_to_pass_state(*setup_, use_);
  const bool event_mode = use_.event_mode;
  if (!reason) {
    archive(use_);
    if (event_mode && !use_.event_mode && !remade_without_event_mode()) return false;
    reason = pass_state(*instance_, archive);
  }
  if (reason) {
    failure_ = *reason;
    return false;
  }
  archive(now_);
  return true;
}

/// What was learnt of it stays with its run, but for the mode in which it is.
bool CoSimulation::start_from(double t, std::span<const double> /*x*/,
                              std::span<const std::byte> memory) {
  if (t != start_)
    return failed("stands at t = " + short_number(t) + " s and can only start there");
  const FmuUse own = use_;
  Archive archive(std::vector(memory.begin(), memory.end()));
  if (!pass_instance(archive)) return false;
  const bool event_mode = use_.event_mode;
  use_ = own;
  use_.event_mode = event_mode;
  description_.events = tells_events(use_);
  saved_ = now_;
  return true;
}

/// Beside the FMU's own state what was learnt of it, which decides how it is stepped.
bool CoSimulation::io(Archive& archive) {
  if (!pass_instance(archive)) return false;
  archive(parameters_, piece_settings_, sample_distance_, usable_, over_, h_, slack_, only_size_,
          known_to_move_, looked_for_moves_, stairs_, looked_ahead_, samples_, given_derivatives_,
          linearized_, found_.f_x, found_.f_u, found_.g_x, found_.g_u, counters_);
  saved_ = now_;
  return true;
}

}  // namespace concord
