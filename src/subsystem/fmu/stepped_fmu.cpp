#include "subsystem/fmu/stepped_fmu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "concord/errors.hpp"
#include "subsystem/fmu/passed_state.hpp"

namespace concord {

SteppedFmu::SteppedFmu(std::shared_ptr<const FmuSetup> setup, const SubsystemSettings& settings)
    : setup_(std::move(setup)),
      use_(permitted(setup_->use, settings)),
      tolerance_(chosen_tolerance(*setup_, settings)),
      clocks_(clocked_variables(*setup_)),
      parameters_(*setup_),
      texts_(*setup_) {
  find_out_directional();
  instance_ = make_instance(*setup_, use_);
  const SubsystemDescription& description = setup_->description;
  now_.x.resize(description.states.size());
  now_.y.resize(description.outputs.size());
  now_.clocks = clocks_.memory();
  for (const InputVariable& input : description.inputs) now_.u.push_back(input.start.value_or(0.0));
}

/// An FMU that claims directional derivatives and refuses them: another instance is asked, because
/// the answer is needed before this one can be started.
void SteppedFmu::find_out_directional() {
  if (!use_.directional || setup_->states.empty() || setup_->interface().only_once_per_process)
    return;
  const double start = setup_->model->start.value_or(0.0);
  const auto other = make_instance(*setup_, use_);
  const std::size_t n = setup_->description.states.size();
  std::vector<double> result(n * n);
  if (!begin_initialization(*setup_, *other, start, start + 1.0, tolerance_) ||
      other->partial(setup_->derivatives, n, setup_->states, n, result))
    return;
  use_.directional = false;
  tell(other->failure() + "; its directional derivatives are not used");
}

void SteppedFmu::note_use(std::span<const char> fed, std::span<const char> looked_at) {
  feed_.note_use(*setup_, fed);
  clocks_.note_use(fed);
  outputs_ = setup_->ports(setup_->output_variables, looked_at);
}

bool SteppedFmu::initialize() {
  return begin_initialization(*setup_, *instance_, start_, stop_, tolerance_);
}

void SteppedFmu::start(double begin, double stop) {
  start_ = now_.t = begin;
  stop_ = stop;
  if (!initialize() || !parameters_.set(*instance_))
    throw SimulationError(instance_->failure() + " before the start");
}

bool SteppedFmu::take_inputs(std::span<const Sample> inputs) {
  feed_.take(inputs, now_.u);
  return (feed_.set_all(*instance_, now_.u) && clocks_.set_inputs(*instance_, now_.u)) ||
         failed_call();
}

/// What the events at the start have moved is read before anybody may set anything again.
bool SteppedFmu::end_initialization(std::span<const Sample> inputs) {
  return take_inputs(inputs) && leave_initialization() && read_outputs() && read_states();
}

bool SteppedFmu::leave_initialization() {
  EventOutcome outcome;
  const Ticking ticking{clocks_, now_.clocks, start_, now_.u};
  if (!clocks_.read_outputs(*instance_, now_.clocks)) return failed_call();
  if (concord::end_initialization(*setup_, *instance_, outcome,
                                  clocks_.empty() ? nullptr : &ticking))
    return take_events(outcome);
  if (instance_->mode() != FmuMode::failed || !use_.event_mode || !clocks_.empty())
    return failed_call();
  return begin_without_event_mode();
}

/// For an FMU that claims event mode and refuses it: once more, without.
bool SteppedFmu::begin_without_event_mode() {
  tell(instance_->failure() + "; it is used without event mode, which it claims (hasEventMode)");
  use_.event_mode = false;
  instance_.reset();
  instance_ = FmuInstance::make(setup_->source(use_));
  return (initialize() && parameters_.set(*instance_) && texts_.set(*instance_) &&
          feed_.set_all(*instance_, now_.u) && instance_->leave_initialization()) ||
         failed_call();
}

bool SteppedFmu::feed(std::span<const Polynomial> inputs, double begin, const StepPiece& piece,
                      double end) {
  clocks_.take([&](std::size_t i) { return inputs[i](end - begin); }, now_.u);
  if (feed_.moving().empty()) return true;
  if (piece.hold_at) return feed_values(inputs, *piece.hold_at);
  const double tau = now_.t == piece.begin ? piece.begin - begin : now_.t - begin;
  if (!feed_values(inputs, tau)) return false;
  if (use_.input_order > 0) feed_derivatives(inputs, tau, end - now_.t);
  return true;
}

bool SteppedFmu::feed_values(std::span<const Polynomial> inputs, double tau) {
  feed_.take(inputs, tau, now_.u);
  return instance_->set(feed_.moving(), now_.u) || failed_call();
}

/// Where the FMU refuses an order it gets no such derivatives from here on.
void SteppedFmu::feed_derivatives(std::span<const Polynomial> inputs, double tau, double size) {
  const int taken =
      feed_.set_derivatives(*instance_, inputs, tau, size, use_.input_order, now_.derivatives_set);
  if (taken == use_.input_order) [[likely]]
    return;
  tell(instance_->failure() + "; it gets derivatives of inputs up to order " +
       std::to_string(taken) + " only");
  use_.input_order = taken;
}

void SteppedFmu::feed_on_updates(std::span<const Polynomial> inputs, double begin) {
  instance_->on_intermediate_update([this, inputs, begin](double time) {
    feed_.take(inputs, time - begin, now_.u);
    if (!instance_->set(feed_.moving(), now_.u)) throw SimulationError(instance_->failure());
  });
}

double SteppedFmu::end_of_step(const StepPiece& piece) const {
  const bool stops_at_event = use_.variable_steps && reaches_event(piece.end);
  return stops_at_event ? std::min(piece.end, now_.next_event) : piece.end;
}

bool SteppedFmu::step(double end, const StepPiece* piece) {
  double reached = end;
  bool event = false;
  const double before = now_.t;
  const StepEnd result = instance_->do_step(now_.t, end - now_.t, !may_go_back_, reached, event);
  if (result == StepEnd::completed) [[likely]] {
    now_.t = end;
    return !(event || reaches_event(end)) || !use_.event_mode || meet_event(piece);
  }
  if (result == StepEnd::failed) return failed_call();
  const std::string call = prefix_of(setup_->model->version) + std::string("DoStep");
  if (result == StepEnd::terminated) return ended(call + ": ");
  now_.t = std::min(reached, end);
  if (result == StepEnd::discarded)
    return reached > before ||
           failed(instance_->failure() + " for a step of " + short_number(end - before) + " s");
  return event && use_.event_mode
             ? meet_event(piece)
             : reached > before || failed(call + " returned early without having moved");
}

bool SteppedFmu::ended(const std::string& where) {
  over_ = true;
  return failed(where + words() + " ended the simulation (terminateSimulation)");
}

bool SteppedFmu::read_outputs() {
  if (!instance_->get(outputs_, now_.y) ||
      (initializing() && !clocks_.read_outputs(*instance_, now_.clocks)))
    return failed_call();
  clocks_.give(now_.clocks, now_.y);
  for (std::size_t i = 0; i < now_.y.size(); ++i)
    if (!std::isfinite(now_.y[i])) [[unlikely]]
      return failed("output '" + setup_->description.outputs[i].name + "' of " + words() + " is " +
                    short_number(now_.y[i]) +
                    (initializing() ? " after initialisation" : " after DoStep"));
  return true;
}

bool SteppedFmu::read_states() {
  return now_.x.empty() || instance_->get(setup_->states, now_.x) || failed_call();
}

bool SteppedFmu::save(SavedFmu& at) {
  if (!at.state) at.state.emplace(*instance_);
  const bool good = instance_->save(*at.state) || failed_call();
  at.point = now_;
  return good;
}

bool SteppedFmu::restore(const SavedFmu& from) {
  const bool good = instance_->restore(*from.state) || failed_call();
  now_ = from.point;
  return good;
}

/// One that is read may have turned out to have no event mode: then it is made anew.
bool SteppedFmu::pass_state(Archive& archive) {
  auto reason = refusal_to_pass_state(*setup_, use_);
  const bool event_mode = use_.event_mode;
  if (!reason) {
    CONCORD_MEMBERS(archive, use_);
    if (event_mode && !use_.event_mode) {
      instance_.reset();
      instance_ = FmuInstance::make(setup_->source(use_));
      if (!initialize()) return failed_call();
    }
    reason = concord::pass_state(*instance_, archive);
  }
  if (reason) {
    failure_ = *reason;
    return false;
  }
  CONCORD_MEMBERS(archive, now_);
  return true;
}

}  // namespace concord
