#include <algorithm>
#include <cmath>

#include "concord/errors.hpp"
#include "subsystem/fmu/clocks/clocks.hpp"
#include "support/wording.hpp"

namespace concord {

/// Periodic clocks cannot tick twice at one instant, others can.
void FmuClocks::check(const Clock& clock, const ClockTime& interval, double t) const {
  const double seconds = interval.seconds();
  const bool periodic = clock.variable->clock->is_periodic();
  if (!std::isfinite(seconds) || seconds < 0.0 || (periodic && seconds == 0.0))
    fail(clock,
         "has an interval of " + short_number(seconds) + " s, which must be " +
             (periodic ? "more than 0" : "0 or more"),
         t);
}

/// What the FMU says; only of countdown clocks it may be nothing.
bool FmuClocks::ask(FmuInstance& instance, const Clock& clock, double t, ClockTime& interval,
                    IntervalQualifier& qualifier) const {
  const FmiClock& attributes = *clock.variable->clock;
  if (!instance.clock_calls()->get_interval(clock.variable->reference, attributes.fractions,
                                            interval, qualifier))
    return false;
  const bool unknown = qualifier == IntervalQualifier::not_yet_known;
  if (unknown && attributes.interval != ClockInterval::countdown)
    fail(clock, "has no interval yet (fmi3IntervalNotYetKnown), as only countdown clocks may", t);
  if (!unknown && qualifier != IntervalQualifier::unchanged &&
      qualifier != IntervalQualifier::changed)
    fail(clock,
         "has an interval with the qualifier " + std::to_string(static_cast<int>(qualifier)) +
             ", which does not exist",
         t);
  if (!unknown) check(clock, interval, t);
  return true;
}

/// Constant clocks, and what the description says of others, need no question.
bool FmuClocks::ask_at_start(FmuInstance& instance, const Clock& clock, double start,
                             ClockMemory& memory) const {
  const FmiClock& attributes = *clock.variable->clock;
  if (clock.pace == none) return true;
  ClockPace& pace = memory.paces[clock.pace];
  if (attributes.period) {
    pace = ClockPace::from(start, attributes.shift, *attributes.period);
    return true;
  }
  if (!attributes.is_periodic()) return ask_interval(instance, clock, start, true, memory);
  ClockTime interval, shift;
  IntervalQualifier qualifier = IntervalQualifier::unchanged;
  if (!ask(instance, clock, start, interval, qualifier) ||
      !instance.clock_calls()->get_shift(clock.variable->reference, attributes.fractions, shift))
    return false;
  if (!(shift.seconds() >= 0.0) || !std::isfinite(shift.seconds()))
    fail(clock, "has a shift of " + short_number(shift.seconds()) + " s, which must be 0 or more",
         start);
  pace = ClockPace::from(start, shift, interval);
  return true;
}

bool FmuClocks::begin(FmuInstance& instance, double start, ClockMemory& memory) const {
  return std::ranges::all_of(
      inputs_, [&](const Clock& clock) { return ask_at_start(instance, clock, start, memory); });
}

/// At t, after an event: what the FMU says now of a clock that it knows better than the
/// description. An interval counts from now on.
bool FmuClocks::ask_interval(FmuInstance& instance, const Clock& clock, double t, bool ticked,
                             ClockMemory& memory) const {
  const FmiClock& attributes = *clock.variable->clock;
  const bool changing = attributes.interval == ClockInterval::changing;
  const bool countdown = attributes.interval == ClockInterval::countdown;
  const bool tunable = attributes.interval == ClockInterval::tunable && !attributes.period;
  if (!countdown && !tunable && !(changing && ticked)) return true;
  ClockTime interval;
  IntervalQualifier qualifier = IntervalQualifier::unchanged;
  if (!ask(instance, clock, t, interval, qualifier)) return false;
  if (qualifier != IntervalQualifier::changed && !changing) return true;
  memory.paces[clock.pace] = ClockPace::from(t, interval, interval);
  return true;
}

/// While a model partition runs.
bool FmuClocks::ask_countdowns(FmuInstance& instance, double t, ClockMemory& memory) const {
  return std::ranges::all_of(inputs_, [&](const Clock& clock) {
    return clock.variable->clock->interval != ClockInterval::countdown ||
           ask_interval(instance, clock, t, false, memory);
  });
}

bool has_clocks(const ModelDescription& model) {
  return std::ranges::any_of(
      model.variables, [](const FmiVariable& variable) { return variable.clock.has_value(); });
}

std::string why_no_ticks(const ModelDescription& model, FmuRole role) {
  const bool event_mode =
      role != FmuRole::co_simulation || (model.co_simulation && model.co_simulation->event_mode);
  for (const FmiVariable& variable : model.variables) {
    if (!variable.clock) continue;
    const std::string clock = "the FMU has the clock " + in_quotes(variable.name) + ", ";
    if (!event_mode)
      return clock +
             "which ticks in event mode, and none in co-simulation (hasEventMode); use "
             "model exchange where it is offered, or export it with event mode";
    if (variable.causality == FmiCausality::output && variable.clock->is_time_based())
      return clock + "an output, which must be triggered and is " +
             name_of(variable.clock->interval);
  }
  return "";
}

std::vector<std::string> remarks_on_clocks(const ModelDescription& model, FmuRole role) {
  std::vector<std::string> result;
  for (const FmiVariable& variable : model.variables) {
    if (!variable.clock) continue;
    result.push_back("clock " + in_quotes(variable.name) + ", " + name_of(variable.causality) +
                     ": " + in_words(*variable.clock));
  }
  const bool one_size = role == FmuRole::co_simulation && !model.co_simulation->variable_steps;
  if (!result.empty() && one_size)
    result.push_back(
        "one step size: its clocks tick where the macro-step ends in which they are to");
  return result;
}

}  // namespace concord
