#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "subsystem/fmu/stepped_fmu.hpp"

namespace concord {

namespace {

/// Both ascending.
void add_missing(const std::vector<std::size_t>& more, std::vector<std::size_t>& all) {
  std::vector<std::size_t> both;
  std::ranges::set_union(all, more, std::back_inserter(both));
  all = std::move(both);
}

}  // namespace

/// But for what rounding leaves between a time and the event that falls on it.
bool SteppedFmu::reaches_event(double t) const {
  constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
  const double event = now_.next_event;
  return t >= event - rounding * std::max(std::abs(t), std::abs(event));
}

bool SteppedFmu::take_events(const EventOutcome& outcome) {
  events_.pass();
  if (outcome.terminate) return ended("");
  now_.next_event = outcome.next_time;
  return true;
}

/// Event mode where the FMU has come to; at the end of a macro-step only once that is accepted.
///
/// Where the FMU gets inputs that are held in micro-steps, and finds an event at the begin of one,
/// it is somewhere within: macro-steps up to its middle have shorter ones.
bool SteppedFmu::meet_event(const StepPiece* piece) {
  const bool somewhere = piece != nullptr && piece->hold_at && now_.t <= piece->begin;
  const double event = somewhere ? 0.5 * (piece->begin + piece->end) : now_.t;
  now_.event_due = events_.meet(now_.t, event, tells_events(use_));
  return now_.event_due || handle_event();
}

bool SteppedFmu::meet_jump(double end) {
  events_.pass();
  now_.event_due = events_.meet(end, end, true);
  now_.jump_end = end;
  return now_.event_due;
}

bool SteppedFmu::handle_event() {
  if (!instance_->enter_event_mode() || !instance_->set(feed_.held(), now_.u) || !set_due_texts())
    return failed_call();
  return iterate_events();
}

/// From event mode on, with the clocks that tick here.
bool SteppedFmu::iterate_events() {
  EventOutcome outcome;
  const Ticking ticking{clocks_, now_.clocks, now_.t, now_.u};
  if (!concord::iterate_events(*instance_, outcome, clocks_.empty() ? nullptr : &ticking))
    return failed_call();
  return take_events(outcome);
}

bool SteppedFmu::set_due_texts() {
  return !std::exchange(now_.texts_due, false) || texts_.set(*instance_);
}

bool SteppedFmu::set_due_parameters() {
  if (!std::exchange(now_.parameters_due, false)) [[likely]]
    return true;
  return parameters_.set(*instance_) || failed_call();
}

/// In event mode where the FMU has one.
bool SteppedFmu::feed_held(std::span<const Polynomial> inputs) {
  clocks_.take([&](std::size_t i) { return inputs[i].c[0]; }, now_.u);
  if (!feed_.take_held(inputs, now_.u) && !now_.texts_due && !clocks_.called(now_.u, now_.clocks))
    return true;
  if (use_.event_mode) return handle_event();
  return (instance_->set(feed_.held(), now_.u) && set_due_texts()) || failed_call();
}

bool SteppedFmu::happen(std::span<const Sample> inputs, std::vector<Happening>& what) {
  const bool due = std::exchange(now_.event_due, false);
  clocks_.take([&](std::size_t i) { return inputs[i].value; }, now_.u);
  const bool held =
      feed_.held_differ(inputs, now_.u) || now_.texts_due || clocks_.called(now_.u, now_.clocks);
  if (due) what.push_back({0, reaches_event(now_.t) ? "time event" : "event"});
  if (held) what.push_back({0, "inputs"});
  if (events_.take_handled()) what.push_back({0, "event"});
  feed_.take_held(inputs, now_.u);
  return (!due && !held) || (handle_event() && read_outputs() && read_states());
}

/// Up to what an iteration leaves, inputs are those that the FMU has.
std::vector<std::size_t> SteppedFmu::outdated(std::span<const Sample> inputs) const {
  constexpr double left_over = 1e-6;
  std::vector<std::size_t> result;
  if (initializing()) return result;
  if (now_.parameters_due) {
    result.resize(now_.y.size());
    std::iota(result.begin(), result.end(), std::size_t{0});
    return result;
  }
  for (const auto& [output, input] : setup_->description.feedthrough) {
    const double old = now_.u[input], now = inputs[input].value;
    const double size = std::max(std::abs(old), std::abs(now));
    const bool jumped = feed_.feeds(input) && std::abs(now - old) > left_over * size;
    if (jumped && (result.empty() || result.back() != output)) result.push_back(output);
  }
  if (now_.texts_due) add_missing(setup_->told_by_texts, result);
  return result;
}

/// Without event mode not before the next step: between a Set and a step nothing may be read.
bool SteppedFmu::set_parameter(std::size_t parameter, double value) {
  if (!parameters_.take(parameter, value, failure_)) return false;
  if (initializing()) return parameters_.set(*instance_) || failed_call();
  const bool started = instance_->mode() != FmuMode::instantiated;
  if (started && use_.event_mode)
    return set_parameters_in_event() && read_outputs() && read_states();
  now_.parameters_due = started;
  return true;
}

bool SteppedFmu::set_parameters_in_event() {
  if (!instance_->enter_event_mode() || !parameters_.set(*instance_)) return failed_call();
  return iterate_events();
}

bool SteppedFmu::put_out(std::span<Texts> texts) {
  return texts_.put_out(*instance_, now_.clocks, texts) || failed_call();
}

/// As parameters: behind a Set nothing may be read before the next step.
bool SteppedFmu::take(std::span<const Texts> texts) {
  const bool due = texts_.take(texts, now_.clocks);
  if (initializing()) return texts_.set(*instance_) || failed_call();
  now_.texts_due = due || now_.texts_due;
  return true;
}

}  // namespace concord
