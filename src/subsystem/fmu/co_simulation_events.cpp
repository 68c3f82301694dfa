#include <algorithm>
#include <limits>
#include <utility>

#include "concord/errors.hpp"
#include "subsystem/fmu/co_simulation.hpp"

namespace concord {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What an FMU that returns early so shortly before the macro-step's end has found is at the end,
/// in units of what is no time between instants.
constexpr double near = 2.5;

}  // namespace

CoSimulation::MacroStepUnderWay::MacroStepUnderWay(CoSimulation& of, double end) : of_(of) {
  of_.end_ = end;
  of_.first_event_ = infinity;
  of_.handled_event_ = false;
}

CoSimulation::MacroStepUnderWay::~MacroStepUnderWay() { of_.end_ = infinity; }

/// But for what rounding leaves between a time and the event that falls on it.
bool CoSimulation::reaches_event(double t) const {
  constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
  const double event = now_.next_event;
  return t >= event - rounding * std::max(std::abs(t), std::abs(event));
}

bool CoSimulation::take_events(const EventOutcome& outcome) {
  now_.sampled = 0;
  if (outcome.terminate) return ended();
  now_.next_event = outcome.next_time;
  return true;
}

/// Event mode where the FMU has come to; at the end of a macro-step only once that is accepted.
///
/// Where the FMU gets inputs that are held in micro-steps, and finds an event at the begin of one,
/// it is somewhere within: macro-steps up to its middle have shorter ones.
bool CoSimulation::meet_event(const StepPiece* piece) {
  const bool somewhere = piece != nullptr && piece->hold_at && now_.t <= piece->begin;
  const double event = somewhere ? 0.5 * (piece->begin + piece->end) : now_.t;
  first_event_ = std::min(first_event_, event);
  now_.event_due = description_.events && now_.t >= end_ - near * slack_;
  handled_event_ = handled_event_ || (!now_.event_due && end_ < infinity);
  return now_.event_due || handle_event();
}

bool CoSimulation::handle_event() {
  EventOutcome outcome;
  if (!instance_->enter_event_mode() || !instance_->set(held_, now_.u) ||
      !iterate_events(*instance_, outcome))
    return failed_call();
  return take_events(outcome);
}

/// Held inputs change at communication points; in event mode where the FMU has one.
bool CoSimulation::feed_held(std::span<const Polynomial> inputs) {
  bool changed = false;
  for (const std::size_t i : held_.places()) {
    changed = changed || inputs[i].c[0] != now_.u[i];
    now_.u[i] = inputs[i].c[0];
  }
  if (!changed) return true;
  if (!use_.event_mode) return instance_->set(held_, now_.u) || failed_call();
  return handle_event();
}

double CoSimulation::next_event(std::span<const Sample> /*inputs*/) { return first_event_; }

bool CoSimulation::held_differ(std::span<const Sample> inputs) const {
  const auto& places = held_.places();
  return std::any_of(places.begin(), places.end(),
                     [&](std::size_t i) { return inputs[i].value != now_.u[i]; });
}

Outcome CoSimulation::happen(EventPass pass, std::span<const Sample> inputs, double slack,
                             bool& changed, std::vector<Happening>& what) {
  slack_ = slack;
  changed = false;
  if (pass == EventPass::settle) return Outcome::ok;
  const std::size_t before = what.size();
  const bool due = std::exchange(now_.event_due, false), held = held_differ(inputs);
  if (due) what.push_back({0, reaches_event(now_.t) ? "time event" : "event"});
  if (held) what.push_back({0, "inputs"});
  if (std::exchange(handled_event_, false)) what.push_back({0, "event"});
  changed = what.size() > before;
  for (const std::size_t i : held_.places()) now_.u[i] = inputs[i].value;
  const bool good = (!due && !held) || (handle_event() && read_outputs() && read_states());
  if (over_) throw EndOfSimulation(failure_);
  return good ? Outcome::ok : Outcome::failed;
}

}  // namespace concord
