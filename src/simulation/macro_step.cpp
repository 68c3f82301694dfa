#include "simulation/macro_step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>
#include <utility>

#include "concord/errors.hpp"
#include "coupling/points/consistent_inputs.hpp"
#include "coupling/points/start.hpp"
#include "coupling/registry/couplings.hpp"
#include "stepping/error_controlled_steps.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

using Clock = std::chrono::steady_clock;

/// The fraction of a usual macro-step that is taken where nothing is known of the next one.
constexpr double cautious = 1e-3;

std::unique_ptr<StepController> make_controller(const Settings& settings, bool rolls_back) {
  if (settings.adapt == Adapt::iteration) {
    return std::make_unique<IterationSteps>(settings.start, settings.stop, settings.step,
                                            settings.step_min, settings.events);
  }
  if (settings.adapt != Adapt::none) {
    // Richardson's macro-steps are two of the size that the user means.
    const double factor = settings.adapt == Adapt::predictor ? 1.0 : 2.0;
    const ErrorControlledSteps::Limits limits{
        settings.start, settings.stop,
        std::min(factor * settings.largest_step, settings.stop - settings.start),
        factor * settings.step_min, rolls_back};
    return std::make_unique<ErrorControlledSteps>(limits, cautious * factor * settings.step,
                                                  settings.events);
  }
  return std::make_unique<FixedSteps>(settings.start, settings.stop, settings.step,
                                      settings.events);
}

std::string remedy_of_divergence(const Settings& settings) {
  if (settings.method.solve.from_past) {
    return "a method that solves for the inputs (-cosim_type jfm, missiles)";
  }
  return settings.adapt == Adapt::none ? "-cosim_adapt predictor" : "smaller tolerances";
}

double loosest_rtol(const Settings& settings) {
  double loosest = 0.0;
  for (const auto& subsystem : settings.subsystems) {
    loosest = std::max(loosest, subsystem.tolerance.relative);
  }
  return loosest;
}

}  // namespace

MacroStepper::MacroStepper(const Settings& settings, RankNetwork& subsystems)
    : settings_(settings),
      subsystems_(subsystems),
      rolls_back_(can_roll_back(subsystems.network().has_events())),
      evaluated_at_stop_(everyone([](const auto& d) {
        return d.capabilities.equations || d.events || d.constraint.has_value();
      })),
      coupling_(
          make_coupling(settings.method, subsystems, settings.defaults, loosest_rtol(settings))),
      events_(subsystems, *coupling_, can_repeat(),
              std::max(std::abs(settings.start), std::abs(settings.stop)), settings.event_limit),
      controller_(make_controller(settings, rolls_back_)),
      at_point_(subsystems),
      loops_(subsystems, settings.method),
      errors_(settings.method, subsystems),
      grid_(settings, subsystems, *coupling_) {
  if (settings.adapt == Adapt::predictor && !settings.method.compares_with_prediction() &&
      !subsystems.network().has_constraints()) {
    budget_.emplace(settings.stop - settings.start);
  }
}

PointEvaluation& MacroStepper::evaluation() {
  PointEvaluation* own = coupling_->evaluation();
  return own != nullptr ? *own : at_point_;
}

void MacroStepper::start() {
  const MacroStep first = proposed();
  subsystems_.enter(smooth_interval(first.begin));
  coupling_->start(first, settings_.stop, point_);
  take_held();
  look_for_events();
  settle_start();
  subsystems_.touched().clear();
  loops_.restart(evaluation(), point_.inputs);
  subsystems_.see(point_.inputs, point_.outputs, first.size());
  subsystems_.forget_changes(point_.outputs);
  controller_->begin_anew(beginning(first.size()));
  trial_.inputs = point_.inputs;
  trial_.outputs = point_.outputs;
  for (std::size_t i = 0; i < point_.inputs.size(); ++i) {
    point_.polynomials[i].c[0] = point_.inputs[i].value;
  }
  trial_.polynomials = point_.polynomials;
  errors_.start(point_);
}

/// Where that is of use.
bool MacroStepper::can_roll_back(bool events) const {
  const bool wanted =
      settings_.adapt == Adapt::predictor || settings_.method.solve.repeats || events;
  return settings_.method.rolls_back() ||
         (wanted && everyone([](const auto& d) { return d.capabilities.rollback; }));
}

/// Some subsystems know only when they have started that they have events.
void MacroStepper::look_for_events() {
  if (events_.any()) {
    return;
  }
  events_.look_for_more();
  rolls_back_ = can_roll_back(events_.any());
  events_.roll_back(can_repeat());
}

/// A macro-step, to another end; methods that repeat only the others' may have somebody who cannot.
bool MacroStepper::can_repeat() const {
  return rolls_back_ &&
         everyone([](const auto& d) { return d.capabilities.rollback && d.capabilities.any_step; });
}

bool MacroStepper::everyone(bool (*can)(const SubsystemDescription&)) const {
  bool all = true;
  for (const std::size_t k : subsystems_.all()) {
    all = all && can(subsystems_.own(k).description());
  }
  return agree_on_largest(subsystems_.comm(), all ? 0 : 1) == 0;
}

/// What holds at the start, and what happens there.
void MacroStepper::settle_start() {
  if (!events_.any()) {
    return;
  }
  propose();
  subsystems_.touched().add_all();
  events_.begin_instant(point_, coupling_->states());
  while (events_.settles(point_.inputs)) {
    restart_coupling();
  }
  while (events_.happens(point_.inputs)) {
    restart_coupling();
  }
  events_.end_instant();
}

std::span<const StepReport> MacroStepper::advance() {
  const auto clock_start = Clock::now();
  subsystems_.clock().begin_step(report_.index, report_.wall_time);
  begin_step();
  for (;;) {
    const MacroStep step = proposed();
    try_step(step);
    if (locates_event(step)) {
      take_back(Rejection::event);
      continue;
    }
    if (acceptable()) {
      commit(step);
      break;
    }
    if (!retry()) {
      give_up(step);
    }
    take_back(reason_of_rejection());
  }
  report_.wall_time = std::chrono::duration<double>(Clock::now() - clock_start).count();
  if (subsystems_.clock().looks()) {
    subsystems_.clock().add(Phase::step, clock_start);
  }
  return reported(report_.step);
}

/// What the macro-step that begins depends on is as it is after a new start.
void MacroStepper::begin_step() {
  if (std::exchange(jumped_, false)) {
    begin_anew();
  }
  if (std::exchange(anew_, false)) {
    for (std::size_t i = 0; i < point_.inputs.size(); ++i) {
      point_.polynomials[i].c = {point_.inputs[i].value, 0.0, 0.0, 0.0};
    }
  }
  report_.rejections = 0;
  report_.rejected_for = {};
  rejected_ = {};
  propose();
  events_.clear();
  grid_.begin(proposed(), rolls_back_);
}

/// A macro-step up to the next known event, at most.
void MacroStepper::propose() {
  if (events_.any()) {
    controller_->end_by(events_.next_time());
    events_.propose(proposed());
  }
}

Rejection MacroStepper::reason_of_rejection() const {
  switch (report_.coupling.status) {
    case CouplingStatus::converged:
      return Rejection::error;
    case CouplingStatus::not_converged:
      return Rejection::coupling;
    case CouplingStatus::failed:
      break;
  }
  return Rejection::subsystem;
}

void MacroStepper::take_back(Rejection reason) {
  ++report_.rejected_for[static_cast<std::size_t>(reason)];
  subsystems_.restore();
  coupling_->rejected();
  ++report_.rejections;
  rejected_ += report_.coupling;
}

/// Whether something happens within the macro-step, which then is to end there.
bool MacroStepper::locates_event(const MacroStep& step) {
  if (!events_.any()) {
    return false;
  }
  const bool converged = report_.coupling.status == CouplingStatus::converged;
  if (converged) {
    feed();
  }
  const bool repeats =
      events_.repeats(step, converged, converged ? fed_ : std::span<const Sample>());
  if (repeats) {
    controller_->end_by(events_.aim());
  }
  return repeats;
}

/// A hundredth of the time in which the fastest output becomes another (Hairer, Norsett and Wanner,
/// Solving ODEs I, II.4, without their second derivative), where slopes tell it and a step that is
/// too large can be taken back; else `unknown`. What is 0 tells nothing. Collective.
double MacroStepper::beginning(double unknown) const {
  constexpr double fraction = 0.01;
  double shortest = std::numeric_limits<double>::infinity();
  for (const Sample& output : point_.outputs) {
    if (output.value != 0.0 && output.derivative != 0.0) {
      shortest = std::min(shortest, std::abs(output.value / output.derivative));
    }
  }
  shortest = -agree_on_largest(subsystems_.comm(), -shortest);
  const bool known = rolls_back_ && point_.slopes_known && std::isfinite(shortest);
  return known ? fraction * shortest : unknown;
}

MacroStep MacroStepper::proposed() const {
  const auto [begin, end, size] = controller_->propose();
  return {begin, end, size};
}

/// Where two macro-steps were taken together, the whole cost is the first one's.
std::span<const StepReport> MacroStepper::reported(const MacroStep& step) {
  const Middle* middle = coupling_->middle();
  if (middle == nullptr) {
    accepted_[0] = report_;
    events_.tell(accepted_[0]);
    return std::span(accepted_).first(1);
  }
  accepted_[0] = report_;
  accepted_[0].step = {step.begin, middle->point.time, middle->point.last_step};
  accepted_[0].point = &middle->point;
  accepted_[0].states = middle->states;
  const auto behind = std::partition_point(
      report_.inside.begin(), report_.inside.end(),
      [&](const PassedPoint& inside) { return inside.time < middle->point.time; });
  accepted_[0].inside = {report_.inside.begin(), behind};
  ++report_.index;
  accepted_[1].index = report_.index;
  accepted_[1].step = {middle->point.time, step.end, step.size() - middle->point.last_step};
  accepted_[1].error_estimate = report_.error_estimate;
  accepted_[1].point = &point_;
  accepted_[1].inside = {behind, report_.inside.end()};
  events_.tell(accepted_[1]);
  return accepted_;
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

void MacroStepper::jump(std::span<const InputChange> changes) {
  jumped_ = true;
  changes_.insert(changes_.end(), changes.begin(), changes.end());
}

void MacroStepper::io(Archive& archive) {
  archive(rolls_back_, point_, trial_, held_changed_, jumped_, jumped_inside_, black_box_jumps_,
          anew_, report_.index, budget_, errors_, events_, *controller_, *coupling_);
  archive.per(Per::input, fed_);
  pass_changes(archive);
  if (archive.reading()) {
    loops_.restart(evaluation(), point_.inputs);
  }
}

/// Of each subsystem with the inputs' positions among its own.
void MacroStepper::pass_changes(Archive& archive) {
  std::vector<InputChange> all;
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange own = subsystems_.inputs_of(k);
    std::vector<InputChange> changes;
    for (const InputChange& change : changes_) {
      if (own.first <= change.input && change.input < own.last) {
        changes.push_back({change.input - own.first, change.value});
      }
    }
    archive.within(k, [&] { archive(changes); });
    for (const InputChange& change : changes) {
      all.push_back({own.first + change.input, change.value});
    }
  }
  changes_ = std::move(all);
}

/// Inputs that nothing feeds stay as they are in both, whatever a coupling writes.
void MacroStepper::apply_changes() {
  for (const auto& [input, value] : changes_) {
    point_.inputs[input] = trial_.inputs[input] = {value, 0.0};
    trial_.polynomials[input].c = {value, 0.0, 0.0, 0.0};
    subsystems_.touch_owner(input);
  }
  changes_.clear();
}

bool MacroStepper::is_new_start(const MacroStep& step) const {
  return held_changed_ || jumped_inside_ || events_.arrives(step) || is_listed(point_.time);
}

/// Among the events that are known before the start.
bool MacroStepper::is_listed(double time) const {
  return std::binary_search(settings_.events.begin(), settings_.events.end(), time);
}

/// Whom the events reach that are known before the start: everybody, where they are nobody's own.
void MacroStepper::touch_listed() {
  const auto& nobodys = settings_.listed_events;
  if (coupling_->whole() != nullptr ||
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

/// What follows an event is a new start, with its right limits.
void MacroStepper::begin_anew() {
  errors_.close(point_);
  if (events_.any() || is_listed(point_.time)) {
    events_.begin_instant(point_, coupling_->states());
  }
  const double last = std::exchange(point_.last_step, 0.0);
  const double before = last == 0.0 ? proposed().size() : last;
  apply_changes();
  touch_listed();
  events_.happens(point_.inputs);
  do {
    restart_coupling();
  } while (events_.happens(point_.inputs));
  events_.end_instant();
  subsystems_.touched().close();
  if (!std::exchange(jumped_inside_, false)) {
    subsystems_.forget_changes(point_.outputs);
  }
  held_changed_ = false;
  anew_ = true;
  if (controller_->finished()) {
    return;
  }
  loops_.restart(evaluation(), point_.inputs);
  errors_.restart(point_);
  controller_->begin_anew(std::min(before, beginning(cautious * before)));
}

/// Nothing follows the stop: slopes there may not be asked for, and values of those only that need
/// no step for them.
void MacroStepper::restart_coupling() {
  point_.slopes_known = false;
  subsystems_.enter(smooth_interval(point_.time));
  if (controller_->finished() && !evaluated_at_stop_) {
    return;
  }
  if (controller_->finished() && coupling_->whole() == nullptr) {
    ConsistentInputs consistent(subsystems_);
    make_consistent(subsystems_, consistent, Wanted::values, point_);
  } else {
    coupling_->restart(point_);
  }
  take_held();
}

void MacroStepper::try_step(const MacroStep& step) {
  if (rolls_back_) {
    subsystems_.save();
  }
  report_.coupling = coupling_->solve(step, point_, trial_);
  report_.coupling.status = agreed(report_.coupling);
  report_.coupling.retryable &= rolls_back_;
  if (budget_) {
    report_.coupling.error /= budget_->share();
  }
}

/// A step that cannot be taken back is kept whatever its error; the next one is smaller.
bool MacroStepper::acceptable() const {
  const auto& coupling = report_.coupling;
  return coupling.status == CouplingStatus::converged &&
         (coupling.error <= 1.0 || !coupling.retryable);
}

/// Whether a smaller step from the same point may help.
bool MacroStepper::retry() {
  const auto& coupling = report_.coupling;
  if (!coupling.retryable ||
      agree_on_largest(subsystems_.comm(), subsystems_.fatal() ? 1 : 0) != 0) {
    return false;
  }
  return coupling.status == CouplingStatus::converged
             ? controller_->reject(coupling.error, coupling.error_order)
             : controller_->rejected();
}

CouplingStatus MacroStepper::agreed(const CouplingReport& report) const {
  return static_cast<CouplingStatus>(
      agree_on_largest(subsystems_.comm(), static_cast<int>(report.status)));
}

bool MacroStepper::ends_interval(double time) const {
  return time >= settings_.stop || is_listed(time);
}

/// Held inputs stay at the point's values until the next one, in every trial from the first guess.
void MacroStepper::take_held() {
  subsystems_.hold(point_.inputs);
  trial_.inputs.resize(point_.inputs.size());
  for (const std::size_t i : subsystems_.held_inputs()) {
    point_.inputs[i].derivative = 0.0;
    trial_.inputs[i] = point_.inputs[i];
  }
}

/// P y of the trial. Collective.
void MacroStepper::feed() {
  fed_.assign(trial_.inputs.begin(), trial_.inputs.end());
  subsystems_.exchange(trial_.outputs, fed_);
}

/// What feeds held inputs now; where one has changed, a new start follows. Collective.
void MacroStepper::renew_held() {
  if (!subsystems_.network().has_held()) {
    return;
  }
  if (!events_.any()) {
    feed();
  }
  bool changed = false;
  for (const std::size_t i : subsystems_.held_inputs()) {
    const double value = point_.inputs[i].value;
    trial_.polynomials[i].c = {value, 0.0, 0.0, 0.0};
    trial_.inputs[i] = {fed_[i].value, 0.0};
    changed = changed || fed_[i].value != value;
  }
  held_changed_ = agree_on_largest(subsystems_.comm(), changed ? 1 : 0) != 0;
}

/// The only place that changes committed data.
void MacroStepper::commit(const MacroStep& step) {
  report_.inside = grid_.follow({step, point_.slopes_known, point_.outputs, trial_.outputs},
                                trial_.inputs, *coupling_);
  renew_held();
  loops_.look(evaluation(), trial_.inputs, ends_interval(step.end));
  std::swap(point_.inputs, trial_.inputs);
  std::swap(point_.outputs, trial_.outputs);
  std::swap(point_.polynomials, trial_.polynomials);
  point_.time = step.end;
  const Middle* middle = coupling_->middle();
  point_.last_step = middle == nullptr ? step.size() : step.size() - middle->point.last_step;
  point_.slopes_known = true;
  subsystems_.hold(point_.inputs);
  subsystems_.see(point_.inputs, point_.outputs, step.size());
  count_jumps(step);
  coupling_->commit(point_);
  controller_->accept(report_.coupling.error, report_.coupling.error_order);
  report_.coupling.iterations += rejected_.iterations;
  report_.coupling.evaluations += rejected_.evaluations;
  report_.coupling.linear_iterations += rejected_.linear_iterations;
  report_.step = step;
  report_.point = &point_;
  ++report_.index;
  account();
  if (is_new_start(step)) {
    begin_anew();
  }
}

/// The run's own estimate of its error; that of the step control where there is one.
void MacroStepper::account() {
  const Middle* middle = coupling_->middle();
  if (middle != nullptr) {
    errors_.observe(middle->point, *coupling_, false);
  }
  const double estimate = errors_.observe(point_, *coupling_, controller_->finished());
  if (budget_ && !std::isnan(estimate) && !errors_.missing()) {
    budget_->observe(errors_.elapsed(), errors_.in_tolerances(settings_.method.adapt_tolerance));
  }
  if (!std::isnan(estimate)) {
    errors_.remember_sizes();
  }
  report_.error_estimate =
      settings_.method.estimate == ErrorEstimate::none ? estimate : report_.coupling.error;
  if (errors_.diverged() && settings_.diverged == Diverged::fail) {
    refuse_diverged();
  }
}

void MacroStepper::refuse_diverged() const {
  std::ostringstream message;
  message << *errors_.diverged()
          << "; use a smaller -cosim_step (this macro-step: " << point_.last_step << " s), or "
          << remedy_of_divergence(settings_) << "; -cosim_diverged warn goes on all the same";
  throw SimulationError(message.str());
}

/// What is integrated and coupled less exactly than the step control demands has errors that no
/// macro-step makes smaller.
std::string MacroStepper::remedy_of_error() const {
  constexpr double beside = 0.1;
  const double wanted = settings_.method.adapt_tolerance.relative;
  const double loosest = loosest_rtol(settings_);
  std::ostringstream remedy;
  if (loosest > beside * wanted) {
    remedy << "-subsystem_rtol " << loosest << " is too loose for -cosim_adapt_rtol " << wanted
           << " whatever the macro-step: use a smaller -subsystem_rtol or a larger "
              "-cosim_adapt_rtol";
  } else if (settings_.method.solve.iterates &&
             settings_.method.tolerance.relative > beside * wanted) {
    remedy << "-cosim_rtol " << settings_.method.tolerance.relative
           << " is too loose for -cosim_adapt_rtol " << wanted
           << " whatever the macro-step: use a smaller -cosim_rtol or a larger -cosim_adapt_rtol";
  } else {
    remedy << "use a larger -cosim_adapt_rtol or -cosim_adapt_atol, or a smaller -cosim_step_min";
  }
  return remedy.str();
}

void MacroStepper::give_up(const MacroStep& step) {
  const auto& coupling = report_.coupling;
  const bool smallest = settings_.adapt != Adapt::none && coupling.retryable;
  std::ostringstream message;
  message.precision(12);
  message << "t = " << step.begin << " s, macro-step " << step.size() << " s"
          << (smallest ? ", the smallest (-cosim_step_min)" : "") << ": ";
  if (coupling.status == CouplingStatus::converged) {
    message << "the error estimate is " << coupling.error << " times the tolerance; "
            << remedy_of_error();
  } else {
    message << coupling_->explain(coupling);
  }
  if (agree_on_largest(subsystems_.comm(), subsystems_.asks_for_end() ? 1 : 0) != 0) {
    throw EndOfSimulation(message.str());
  }
  throw SimulationError(message.str());
}

}  // namespace concord
