#include "simulation/macro_step.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>
#include <utility>

#include "concord/errors.hpp"
#include "coupling/points/consistent_inputs.hpp"
#include "coupling/points/start.hpp"
#include "coupling/registry/couplings.hpp"
#include "simulation/remedies.hpp"
#include "stepping/error_controlled_steps.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// The fraction of a usual macro-step that is taken where nothing is known of the next one.
constexpr double cautious = 1e-3;

/// The share of the experiment that no macro-step is shorter than where black boxes may jump: in
/// less time their slopes, differences among them, are as steep as any jump.
constexpr double of_black_boxes = 1e-9;

std::unique_ptr<StepController> make_controller(const Settings& settings, bool black_boxes,
                                                bool rolls_back) {
  if (settings.adapt == Adapt::iteration) {
    return std::make_unique<IterationSteps>(settings.start, settings.stop, settings.step,
                                            settings.step_min, settings.events);
  }
  if (settings.adapt != Adapt::none) {
    // Richardson's macro-steps are two of the size that the user means.
    const double factor = settings.adapt == Adapt::predictor ? 1.0 : 2.0;
    const double duration = settings.stop - settings.start;
    const ErrorControlledSteps::Limits limits{
        settings.start, settings.stop, std::min(factor * settings.largest_step, duration),
        factor * std::max(settings.step_min, black_boxes ? of_black_boxes * duration : 0.0),
        rolls_back};
    return std::make_unique<ErrorControlledSteps>(limits, cautious * factor * settings.step,
                                                  settings.events);
  }
  return std::make_unique<FixedSteps>(settings.start, settings.stop, settings.step,
                                      settings.events);
}

}  // namespace

MacroStepper::MacroStepper(const Settings& settings, RankNetwork& subsystems)
    : settings_(settings),
      subsystems_(subsystems),
      abilities_(settings, subsystems),
      coupling_(
          make_coupling(settings.method, subsystems, settings.defaults, loosest_rtol(settings))),
      events_(subsystems, *coupling_, abilities_.can_repeat(), settings.event_limit),
      controller_(make_controller(settings, subsystems.network().has_black_boxes(),
                                  abilities_.rolls_back())),
      loops_(subsystems, settings.method),
      errors_(settings, subsystems),
      jumps_(settings.method),
      grid_(settings, subsystems, *coupling_),
      feed_(subsystems),
      changes_(subsystems),
      at_rest_(subsystems) {}

void MacroStepper::start() {
  const MacroStep first = proposed();
  subsystems_.enter(smooth_interval(first.begin));
  coupling_->start(first, settings_.stop, point_);
  feed_.hold(point_, trial_);
  look_for_events();
  if (subsystems_.exchange_texts() && !events_.any()) restart_coupling();
  settle_start();
  loops_.restart(coupling_->evaluation(), point_.inputs);
  subsystems_.see(point_.inputs, point_.outputs, first.size());
  subsystems_.forget_changes(point_.outputs);
  subsystems_.touched().add_all();
  controller_->begin_anew(beginning(first.size()));
  subsystems_.touched().clear();
  trial_.inputs = point_.inputs;
  trial_.outputs = point_.outputs;
  for (std::size_t i = 0; i < point_.inputs.size(); ++i) {
    point_.polynomials[i].c[0] = point_.inputs[i].value;
  }
  trial_.polynomials = point_.polynomials;
  errors_.start(point_);
  at_rest_.begin(point_, coupling_->states());
}

/// Some subsystems know only when they have started that they have events.
void MacroStepper::look_for_events() {
  if (events_.any()) {
    return;
  }
  events_.look_for_more();
  abilities_.note_events(events_.any());
  events_.roll_back(abilities_.can_repeat());
}

/// What holds at the start, and what happens there.
void MacroStepper::settle_start() {
  if (!events_.any()) {
    subsystems_.first_pass().reset();
    return;
  }
  propose();
  subsystems_.touched().add_all();
  if (const auto& first = subsystems_.first_pass()) {
    CommunicationPoint before = point_;
    before.inputs = first->inputs;
    before.outputs = first->outputs;
    events_.begin_instant(before, first->states);
  } else {
    events_.begin_instant(point_, coupling_->states());
  }
  while (events_.settles(point_.inputs)) {
    restart_coupling();
  }
  while (events_.happens(point_.inputs)) {
    restart_coupling();
  }
  events_.end_instant();
}

std::span<const StepReport> MacroStepper::advance() {
  const WorkClock::Instant clock_start = WorkClock::now();
  StepReport& report = reports_.current();
  subsystems_.clock().begin_step(report.index, report.wall_time);
  at_rest_.require_unchanged(point_, coupling_->states());
  begin_step();
  for (;;) {
    const MacroStep step = proposed();
    try_step(step);
    if (locates_event(step)) {
      take_back(Rejection::event);
      continue;
    }
    look_inside(step);
    if (!acceptable() && retry()) {
      take_back(reports_.reason());
      continue;
    }
    if (!acceptable() && !goes_over_jump(step)) {
      give_up(step);
    }
    commit(step);
    require_progress(step);
    break;
  }
  at_rest_.begin(point_, coupling_->states());
  report.wall_time = WorkClock::seconds_since(clock_start);
  if (subsystems_.clock().looks()) {
    subsystems_.clock().add(Phase::step, clock_start);
  }
  return reports_.tell(coupling_->middle(), events_);
}

void MacroStepper::take_changes() {
  if (!changes_.take_any()) {
    return;
  }
  feed_.forget_arrived();
  begin_anew(true);
  errors_.look_ahead(point_);
}

double MacroStepper::next_event() const {
  return std::min(events_.next_time(), smooth_interval(point_.time).until);
}

/// What the macro-step that begins depends on is as it is after a new start.
void MacroStepper::begin_step() {
  take_changes();
  if (point_.last_step == 0.0) {
    for (std::size_t i = 0; i < point_.inputs.size(); ++i) {
      point_.polynomials[i].c = {point_.inputs[i].value};
    }
  }
  reports_.begin();
  kept_ = false;
  propose();
  tried_first_ = proposed().size();
  events_.clear();
  const bool rows = grid_.begin(proposed());
  subsystems_.passed_way().begin(rows || errors_.account().looks_inside(),
                                 abilities_.rolls_back() || !rows);
}

/// A macro-step up to the next known event, at most.
void MacroStepper::propose() {
  if (events_.any()) {
    controller_->end_by(events_.next_time());
    events_.propose(proposed());
  }
}

void MacroStepper::take_back(Rejection reason) {
  subsystems_.restore();
  coupling_->rejected();
  reports_.reject(reason);
}

/// Whether something happens within the macro-step, which then is to end there.
bool MacroStepper::locates_event(const MacroStep& step) {
  const CouplingReport& coupling = reports_.current().coupling;
  if (!events_.any() || !coupling.followed) {
    return false;
  }
  const bool converged = coupling.status == CouplingStatus::converged;
  const auto fed = converged ? feed_.feed(trial_) : std::span<const Sample>();
  const bool repeats = events_.repeats(step, converged, fed);
  if (repeats) {
    controller_->end_by(events_.aim());
  }
  return repeats;
}

/// A hundredth of the time in which the fastest output of those that the new start reaches becomes
/// another (Hairer, Norsett and Wanner, Solving ODEs I, II.4, without their second derivative),
/// where slopes tell it and a step that is too large can be taken back; else `unknown`. That is by
/// the outputs' sizes: a relay switches where what it reads is 0. What has always been 0 tells
/// nothing. Collective.
double MacroStepper::beginning(double unknown) const {
  constexpr double fraction = 0.01;
  double shortest = std::numeric_limits<double>::infinity();
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange out = subsystems_.outputs_of(k);
    for (std::size_t o = out.first; subsystems_.touched().contains(k) && o < out.last; ++o) {
      const double slope = std::abs(point_.outputs[o].derivative);
      if (slope > 0.0 && !subsystems_.output_sizes().only_expected(o)) {
        shortest = std::min(shortest, subsystems_.output_sizes()[o] / slope);
      }
    }
  }
  shortest = -agree_on_largest(subsystems_.comm(), -shortest);
  const bool known = abilities_.rolls_back() && point_.slopes_known && std::isfinite(shortest);
  return known ? fraction * shortest : unknown;
}

/// A shortest macro-step tells nothing of the next one's size, nor does what has risen in it.
double MacroStepper::beginning_behind_break(double next) const {
  if (jumps_.passed_over()) {
    constexpr double returning = 0.1;
    return returning * tried_first_;
  }
  return std::min(next, beginning(cautious * next));
}

void MacroStepper::gather_state_slopes(std::span<double> result) {
  Subsystem* const whole = coupling_->whole();
  if (whole == nullptr) {
    subsystems_.gather_state_slopes(point_.inputs, result);
  } else if (whole->state_derivatives({}, result) == Outcome::failed) {
    std::ranges::fill(result, std::numeric_limits<double>::quiet_NaN());
  }
}

/// Of states, where rows have them.
std::span<const double> MacroStepper::recorded_slopes() {
  const RecordSettings& record = settings_.record;
  if (!record.states || record.grid.given() || !settings_.method.ends_with_slopes()) return {};
  state_slopes_.resize(subsystems_.n_states());
  gather_state_slopes(state_slopes_);
  return state_slopes_;
}

MacroStep MacroStepper::proposed() const {
  const auto [begin, end, size] = controller_->propose();
  return {begin, end, size};
}

/// Between the events around the time; an event belongs to what follows it.
SmoothInterval MacroStepper::smooth_interval(double time) const {
  const auto& events = settings_.events;
  const auto next = std::upper_bound(events.begin(), events.end(), time);
  SmoothInterval interval;
  if (next != events.begin()) {
    interval.from = *std::prev(next);
  }
  if (next != events.end()) {
    interval.until = *next;
  }
  return interval;
}

void MacroStepper::io(Archive& archive) {
  CONCORD_MEMBERS(archive, abilities_, point_, trial_, jumps_, reports_, errors_, events_,
                  *controller_, *coupling_, changes_, loops_, at_rest_);
  if (archive.reading()) {
    errors_.look_ahead_again(point_);
  }
}

bool MacroStepper::is_new_start(const MacroStep& step) const {
  return feed_.held_changed() || jumps_.any() || events_.arrives(step) || is_listed(point_.time);
}

/// Among the events that are known before the start.
bool MacroStepper::is_listed(double time) const {
  return std::binary_search(settings_.events.begin(), settings_.events.end(), time);
}

/// Whom the events reach that are known before the start: everybody, where they are nobody's own.
/// So does a jump that a black box has not told of.
void MacroStepper::touch_listed() {
  const auto& nobodys = settings_.listed_events;
  if (jumps_.any() || coupling_->whole() != nullptr ||
      std::binary_search(nobodys.begin(), nobodys.end(), point_.time)) {
    subsystems_.touched().add_all();
  } else if (is_listed(point_.time)) {
    for (const std::size_t k : subsystems_.all()) {
      if (subsystems_.own(k).description().kinks) {
        subsystems_.touched().add(k);
      }
    }
  }
}

/// What follows an event is a new start, with its right limits; `breaks`: more has happened than
/// that inputs are held at other values, which changes no pace.
void MacroStepper::begin_anew(bool breaks) {
  errors_.close(point_);
  if (events_.any() || is_listed(point_.time)) {
    events_.begin_instant(point_, coupling_->states(), recorded_slopes());
  }
  point_.last_step = 0.0;
  const std::int64_t late = events_.late();
  const double next = proposed().size();
  changes_.apply(point_, trial_);
  touch_listed();
  breaks = events_.happens(feed_.arrived(point_)) || breaks;
  do {
    do {
      restart_coupling();
    } while (events_.happens(point_.inputs));
  } while (!fits());
  events_.end_instant();
  if (events_.late() > late) errors_.meet_late_event();
  const double size = breaks ? beginning_behind_break(next) : next;
  subsystems_.touched().close();
  if (!jumps_.take_any()) {
    subsystems_.forget_changes(point_.outputs);
  }
  feed_.forget_held_change();
  if (controller_->finished()) {
    return;
  }
  loops_.restart(coupling_->evaluation(), point_.inputs);
  errors_.restart(point_);
  if (breaks) {
    controller_->begin_anew(size);
  }
}

/// Where nothing happens any more: values of all that answer at once to inputs fit these, too,
/// before the next macro-step begins. Whether nothing has happened by that. Collective.
bool MacroStepper::fits() {
  Touched& touched = subsystems_.touched();
  const bool kept = std::ranges::any_of(subsystems_.all(), [&](std::size_t k) {
    return !touched.contains_values(k) && !subsystems_.own(k).description().feedthrough.empty();
  });
  if (coupling_->whole() != nullptr || agree_on_largest(subsystems_.comm(), kept ? 1 : 0) == 0) {
    return true;
  }
  const std::vector<Sample> before = point_.inputs;
  touched.let_values_fit(true);
  restart_coupling();
  touched.let_values_fit(false);
  const bool moved = !std::ranges::equal(before, point_.inputs, {}, &Sample::value, &Sample::value);
  return agree_on_largest(subsystems_.comm(), moved ? 1 : 0) == 0 ||
         !events_.happens_after_fit(point_.inputs);
}

/// Nothing follows the stop: slopes there may not be asked for, and values of those only that need
/// no step for them.
void MacroStepper::restart_coupling() {
  point_.slopes_known = false;
  subsystems_.enter(smooth_interval(point_.time));
  subsystems_.exchange_texts();
  if (controller_->finished() && !abilities_.evaluated_at_stop()) {
    return;
  }
  if (controller_->finished() && coupling_->whole() == nullptr) {
    ConsistentInputs consistent(subsystems_);
    make_consistent(subsystems_, consistent, Wanted::values, point_);
  } else {
    coupling_->restart(point_);
  }
  feed_.hold(point_, trial_);
}

void MacroStepper::try_step(const MacroStep& step) {
  const bool rolls_back = abilities_.rolls_back();
  if (rolls_back && !std::exchange(kept_, true)) {
    subsystems_.save();
  }
  CouplingReport& report = reports_.current().coupling;
  subsystems_.deadline().begin_step(step.end);
  report = coupling_->solve(step, point_, trial_);
  report.status = agreed(report);
  report.retryable &= rolls_back;
  report.error = errors_.in_budget(report.error);
}

/// What the ends of the macro-step do not show at all counts, too; on smooth ways the coupling's
/// own estimate tells the same, with less noise.
void MacroStepper::look_inside(const MacroStep& step) {
  CouplingReport& coupling = reports_.current().coupling;
  if (coupling.status == CouplingStatus::converged) {
    constexpr double far_more = 10.0;
    const double error = errors_.look_inside(step, point_, trial_, *coupling_);
    coupling.error = error > far_more * coupling.error ? error : coupling.error;
  }
}

/// A step that cannot be taken back is kept whatever its error; the next one is smaller.
bool MacroStepper::acceptable() const {
  const auto& coupling = reports_.current().coupling;
  return coupling.status == CouplingStatus::converged &&
         (coupling.error <= 1.0 || !coupling.retryable);
}

/// Whether a smaller step from the same point may help.
bool MacroStepper::retry() {
  const auto& coupling = reports_.current().coupling;
  if (!coupling.retryable ||
      agree_on_largest(subsystems_.comm(), subsystems_.fatal() ? 1 : 0) != 0) {
    return false;
  }
  return coupling.status == CouplingStatus::converged
             ? controller_->reject(coupling.error, coupling.error_order)
             : controller_->rejected();
}

/// No macro-step is short enough for a jump that nobody tells of, for a kink from which a signal
/// rises that was always 0, or a jump by what comes back to it: the shortest leads over it with
/// inputs that stand, by which whatever happens moves no state far, and the next one begins anew.
/// Whoever jumps does so by what was before, not by what others make of themselves at that instant;
/// inputs then stand where their slopes lead, so that two see the same of each other at its end.
bool MacroStepper::goes_over_jump(const MacroStep& step) {
  const CouplingReport& coupling = reports_.current().coupling;
  const auto jumped = [&] { return jumps_.explain(subsystems_, trial_.outputs, step.size()); };
  const auto counts = [&] {
    return jumps_.take_as_jump(step.end, settings_.stop - settings_.start);
  };
  const bool seen = coupling.status == CouplingStatus::converged && jumped();
  if (!coupling.retryable || coupling.status == CouplingStatus::failed ||
      coupling_->middle() != nullptr || !subsystems_.network().has_black_boxes()) {
    return seen;
  }
  if (seen) return go_uncoupled(step, step.size()) && (jumped() || counts());
  return counts() && go_uncoupled(step, 0.0);
}

/// By inputs that stand where their slopes lead to in `lead` seconds. Whether everybody could.
bool MacroStepper::go_uncoupled(const MacroStep& step, double lead) {
  CouplingReport& coupling = reports_.current().coupling;
  subsystems_.restore();
  coupling_->rejected();
  for (std::size_t i = 0; i < trial_.inputs.size(); ++i) {
    const Sample& begin = point_.inputs[i];
    const double there = point_.slopes_known ? begin.value + lead * begin.derivative : begin.value;
    trial_.inputs[i] = {there, 0.0};
    trial_.polynomials[i].c = {there};
  }
  const Outcome outcome =
      subsystems_.advance(subsystems_.all(), step, trial_.polynomials, InputContinuity::broken,
                          wanted_of(settings_.method.hold), trial_.outputs);
  const bool went = agree_on_largest(subsystems_.comm(), outcome == Outcome::ok ? 0 : 1) == 0;
  coupling.status = went ? CouplingStatus::converged : CouplingStatus::failed;
  return went;
}

CouplingStatus MacroStepper::agreed(const CouplingReport& report) const {
  return static_cast<CouplingStatus>(
      agree_on_largest(subsystems_.comm(), static_cast<int>(report.status)));
}

/// The only place that changes committed data.
void MacroStepper::commit(const MacroStep& step) {
  StepReport& report = reports_.current();
  report.inside = grid_.follow({step, point_.slopes_known, point_.outputs, trial_.outputs},
                               trial_.inputs, *coupling_);
  errors_.see_rows(grid_.missed());
  feed_.renew_held(point_, trial_, events_.any());
  loops_.look(coupling_->evaluation(), trial_.inputs,
              step.end >= settings_.stop || is_listed(step.end));
  std::swap(point_.inputs, trial_.inputs);
  std::swap(point_.outputs, trial_.outputs);
  std::swap(point_.polynomials, trial_.polynomials);
  point_.time = step.end;
  const Middle* middle = coupling_->middle();
  point_.last_step = middle == nullptr ? step.size() : step.size() - middle->point.last_step;
  point_.slopes_known = true;
  subsystems_.hold(point_.inputs);
  subsystems_.see(point_.inputs, point_.outputs, step.size());
  jumps_.count(subsystems_, point_, step.size());
  if (jumps_.any()) errors_.meet_jump();
  if (report.coupling.error_order > 0) coupling_->judged(errors_.judged(report.coupling.error));
  coupling_->commit(point_);
  controller_->accept(report.coupling.error, report.coupling.error_order);
  reports_.accept(step, point_);
  account();
  subsystems_.begin_instant_of_texts();
  const bool told = subsystems_.exchange_texts();
  if (is_new_start(step) || told) {
    begin_anew(jumps_.any() || events_.arrives(step) || is_listed(point_.time));
  }
}

/// The run's own estimate of its error; that of the step control where there is one.
void MacroStepper::account() {
  StepReport& report = reports_.current();
  const double estimate = errors_.observe(point_, *coupling_, controller_->finished());
  report.error_estimate =
      settings_.method.estimate == ErrorEstimate::none ? estimate : report.coupling.error;
  errors_.require_result(point_);
}

/// Accepted macro-steps may lead nowhere, too.
void MacroStepper::require_progress(const MacroStep& step) const {
  if (!controller_->stalls()) {
    return;
  }
  std::ostringstream message;
  message.precision(12);
  message << "t = " << point_.time << " s, macro-step " << step.size()
          << " s: macro-steps have become so short that the stop, " << settings_.stop
          << " s, is out of reach; " << remedy_of_error(settings_);
  throw SimulationError(message.str());
}

void MacroStepper::give_up(const MacroStep& step) {
  const auto& coupling = reports_.current().coupling;
  const bool smallest = settings_.adapt != Adapt::none && coupling.retryable;
  std::ostringstream message;
  message.precision(12);
  message << "t = " << step.begin << " s, macro-step " << step.size() << " s"
          << (smallest ? ", the smallest (-cosim_step_min)" : "") << ": ";
  if (coupling.status == CouplingStatus::converged) {
    message << "the error estimate is " << coupling.error << " times the tolerance; "
            << remedy_of_error(settings_);
  } else {
    message << coupling_->explain(coupling);
  }
  if (subsystems_.network().has_black_boxes() && coupling.status != CouplingStatus::failed) {
    message << "; where an output of a black box jumps by what comes back to it there may be no "
               "solution across the jump: -cosim_type gauss_seidel or jacobi looks for none";
  }
  if (agree_on_largest(subsystems_.comm(), subsystems_.asks_for_end() ? 1 : 0) != 0) {
    throw EndOfSimulation(message.str());
  }
  throw SimulationError(message.str());
}

}  // namespace concord
