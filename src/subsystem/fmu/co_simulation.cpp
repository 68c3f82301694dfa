#include "subsystem/fmu/co_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "concord/errors.hpp"

namespace concord {

namespace {

constexpr int most_returns = 10'000;  ///< early returns and discards within one macro-step
constexpr int most_looks_for_moves = 3;
constexpr int most_steps_ahead = 100;

}  // namespace

CoSimulation::CoSimulation(std::shared_ptr<const FmuSetup> setup, const SubsystemSettings& settings)
    : Subsystem(setup->description),
      setup_(std::move(setup)),
      use_(permitted(setup_->use, settings)),
      parameters_(*setup_),
      tolerance_(chosen_tolerance(*setup_, settings)) {
  find_out_directional();
  instance_ = make_instance(*setup_, use_);
  description_.capabilities = capabilities_of(*setup_, use_);
  description_.events = tells_events(use_);
  if (!settings.state_derivatives) description_.capabilities.state_derivatives = false;
  now_.x.resize(description_.states.size());
  now_.y.resize(description_.outputs.size());
  for (const InputVariable& input : description_.inputs)
    now_.u.push_back(input.start.value_or(0.0));
  slopes_.resize(now_.y.size());
  given_derivatives_.resize(now_.u.size());
  samples_.assign(sampled_ends, std::vector<double>(now_.y.size()));
  lines_.resize(now_.u.size());
  fed_.assign(now_.u.size(), 1);
  note_use(fed_, std::vector<char>(now_.y.size(), 1));
}

/// An FMU that claims directional derivatives and refuses them: another instance is asked, because
/// the answer is needed before this one can be started.
void CoSimulation::find_out_directional() {
  if (!use_.directional || setup_->states.empty() || setup_->interface().only_once_per_process)
    return;
  const double start = setup_->model->start.value_or(0.0);
  const auto other = make_instance(*setup_, use_);
  const std::size_t n = description_.states.size();
  std::vector<double> result(n * n);
  if (!begin_initialization(*setup_, *other, start, start + 1.0, tolerance_) ||
      other->partial(setup_->derivatives, n, setup_->states, n, result))
    return;
  use_.directional = false;
  tell(other->failure() + "; its directional derivatives are not used");
}

/// Estimators look at all outputs.
void CoSimulation::note_use(std::span<const char> fed, std::span<const char> looked_at) {
  const FmuSetup& setup = *setup_;
  fed_.assign(fed.begin(), fed.end());
  inputs_ = setup.ports(setup.input_variables, fed, SignalKind::continuous);
  held_ = setup.ports(setup.input_variables, fed, SignalKind::held);
  all_inputs_ = setup.ports(setup.input_variables);
  const bool all = description_.capabilities.linearization;
  outputs_ = setup.ports(setup.output_variables, all ? std::span<const char>() : looked_at);
  piece_settings_.micro_steps = takes_cubics(use_) ? 1 : use_.micro_steps;
  piece_settings_.input_order = use_.input_order;
  piece_settings_.variable_steps = use_.variable_steps;
  piece_settings_.fixed_internal_step = use_.internal_step;
  piece_settings_.feedthrough = !description_.feedthrough.empty();
}

void CoSimulation::start(const MacroStep& first, double stop) {
  start_ = now_.t = first.begin;
  stop_ = stop;
  h_ = first.size();
  if (!begin_initialization(*setup_, *instance_, start_, stop_, tolerance_) ||
      !parameters_.set(*instance_))
    throw SimulationError(instance_->failure() + " before the start");
  saved_ = now_;
}

/// What the events at the start have moved is read before anybody may set anything again.
Outcome CoSimulation::end_initialization(std::span<const Sample> inputs) {
  if (!initializing()) return Outcome::ok;
  for (std::size_t i = 0; i < now_.u.size(); ++i)
    if (fed_[i] != 0) now_.u[i] = inputs[i].value;
  const bool taken =
      (instance_->set(inputs_, now_.u) && instance_->set(held_, now_.u)) || failed_call();
  return taken && leave_initialization() && read_outputs() && read_states() ? Outcome::ok
                                                                            : Outcome::failed;
}

bool CoSimulation::leave_initialization() {
  EventOutcome outcome;
  if (concord::end_initialization(*instance_, outcome)) return take_events(outcome);
  if (instance_->mode() != FmuMode::failed || !use_.event_mode) return failed_call();
  return begin_without_event_mode();
}

/// For an FMU that claims event mode and refuses it: once more, without.
bool CoSimulation::begin_without_event_mode() {
  tell(instance_->failure() + "; it is used without event mode, which it claims (hasEventMode)");
  use_.event_mode = description_.events = false;
  instance_.reset();
  instance_ = FmuInstance::make(setup_->source(use_));
  return (begin_initialization(*setup_, *instance_, start_, stop_, tolerance_) &&
          parameters_.set(*instance_) && instance_->set(inputs_, now_.u) &&
          instance_->set(held_, now_.u) && instance_->leave_initialization()) ||
         failed_call();
}

bool CoSimulation::one_step_size(const MacroStep& step) {
  constexpr double same = 1e-9;
  if (use_.variable_steps) return true;
  if (only_size_ == 0.0) only_size_ = step.size();
  return std::abs(step.size() - only_size_) <= same * only_size_ ||
         failed("the FMU " + setup_->request.path.string() + " takes steps of one size only (" +
                short_number(only_size_) + " s), not one of " + short_number(step.size()) +
                " s; choose a fixed -cosim_step that divides the experiment");
}

Outcome CoSimulation::advance(const MacroStep& step, std::span<const Polynomial> inputs,
                              InputContinuity /*continuity*/, Wanted wanted,
                              std::span<Sample> outputs) {
  clock_.begin();
  ++counters_.advances;
  if (redo_possible_ && now_.t == saved_.t) usable_ = usable_ && look_ahead();
  bool good =
      usable_ && one_step_size(step) && run_again_if_frozen(inputs, step, wanted) && read_states();
  if (good && wanted == Wanted::values_and_derivatives) good = read_slopes(inputs, step.size());
  h_ = step.size();
  for (std::size_t i = 0; good && i < now_.y.size(); ++i)
    outputs[i] = {now_.y[i], wanted == Wanted::values ? 0.0 : slopes_[i]};
  clock_.end(counters_.wall_time);
  if (over_) throw EndOfSimulation(failure_);
  return good ? Outcome::ok : Outcome::failed;
}

/// In the first macro-steps that may be taken back: an FMU that stands still then, and only then,
/// gives no results.
bool CoSimulation::run_again_if_frozen(std::span<const Polynomial> inputs, const MacroStep& step,
                                       Wanted wanted) {
  if (known_to_move_ || !redo_possible_ || now_.t != saved_.t) return run(inputs, step, wanted);
  const auto moves = [&] { return now_.y != saved_.y || now_.x != saved_.x; };
  if (!run(inputs, step, wanted) || !read_states()) return false;
  known_to_move_ = moves() || ++looked_for_moves_ >= most_looks_for_moves;
  if (moves()) return true;
  restore();
  redo_possible_ = false;
  const bool good = usable_ && run(inputs, step, wanted) && read_states();
  redo_possible_ = true;
  if (!good) return false;
  if (moves())
    return failed("the FMU " + setup_->request.path.string() +
                  " stands still as long as it may be set back (noSetFMUStatePriorToCurrentPoint "
                  "= false), so that its rollback is of no use; withhold it (-subsystem_" +
                  description_.name + "_rollback false)");
  restore();
  return usable_ && run(inputs, step, wanted);
}

bool CoSimulation::run(std::span<const Polynomial> inputs, const MacroStep& step, Wanted wanted) {
  const bool constant = std::all_of(inputs.begin(), inputs.end(), [](const Polynomial& u) {
    return u.c[1] == 0.0 && u.c[2] == 0.0 && u.c[3] == 0.0;
  });
  const bool by_differences =
      wanted == Wanted::values_and_derivatives && slope_source() == SlopeSource::differences;
  if (by_differences) y_before_ = now_.y;
  now_.sampled = 0;
  const MacroStepUnderWay under_way(*this, step.end);
  if (!set_due_parameters() || !feed_held(inputs)) return false;
  may_recut_ = true;
  do {
    recut_ = false;
    sample_distance_ = cut_into_pieces(step, constant, by_differences, piece_settings_, pieces_);
    for (std::size_t k = 0; k < pieces_.size() && !recut_; ++k)
      if (!run_piece(inputs, step.begin, pieces_[k])) return false;
  } while (recut_);
  may_recut_ = false;
  if (!pieces_.back().hold_at)
    for (const std::size_t i : inputs_.places()) now_.u[i] = inputs[i](step.size());
  return read_outputs();
}

/// One piece of the macro-step: usually one step of the FMU, more where it returns early or has a
/// time event.
bool CoSimulation::run_piece(std::span<const Polynomial> inputs, double begin,
                             const StepPiece& piece) {
  if (use_.updates)
    instance_->on_intermediate_update([&, begin](double time) {
      for (const std::size_t i : inputs_.places()) now_.u[i] = inputs[i](time - begin);
      if (!instance_->set(inputs_, now_.u)) throw SimulationError(instance_->failure());
    });
  const double left = now_.t;
  for (int attempt = 0; now_.t < piece.end && !now_.event_due; ++attempt) {
    if (attempt > most_returns) return failed("the FMU returns early without end");
    const double end = end_of_step(piece);
    if (!feed(inputs, begin, piece, end)) return false;
    if (recut_) return true;
    if (!step_once(end, &piece)) return false;
  }
  return (!stairs_.looks() || pieces_.size() < 2 || look_for_stairs(now_.t - left)) &&
         (!piece.sample || sample(*piece.sample));
}

double CoSimulation::end_of_step(const StepPiece& piece) const {
  const bool before = use_.variable_steps && !reaches_event(piece.end);
  return use_.variable_steps && !before ? std::min(piece.end, now_.next_event) : piece.end;
}

bool CoSimulation::look_for_stairs(double size) {
  before_ = now_.y;
  if (!read_outputs()) return false;
  stairs_.look(now_.t, size, before_ != now_.y);
  if (stairs_.internal_step() > 0.0) take_internal_step(stairs_.internal_step());
  return true;
}

void CoSimulation::take_internal_step(double size) {
  use_.internal_step = piece_settings_.fixed_internal_step = size;
  tell("its outputs move in stairs of " + short_number(use_.internal_step) +
       " s, which it doesn't declare; from t = " + short_number(now_.t) +
       " s on it is neither stepped nor differenced within them");
}

/// Where macro-steps are repeated, before the first: an iteration must not find out in its midst
/// that outputs move in stairs, because its residual would no longer be a smooth function of the
/// inputs.
bool CoSimulation::look_ahead() {
  const bool cuts = !takes_cubics(use_) || slope_source() == SlopeSource::differences;
  if (std::exchange(looked_ahead_, true) || !cuts || use_.micro_steps < 2 || !use_.state ||
      !use_.variable_steps || use_.internal_step > 0.0)
    return true;
  if (!trial_state_) trial_state_.emplace(*instance_);
  if (!instance_->save(*trial_state_)) return failed_call();
  trial_ = now_;
  const bool redo_was_possible = std::exchange(redo_possible_, true);
  StairWatch stairs;
  walk_ahead(stairs);
  redo_possible_ = redo_was_possible;
  over_ = false;
  now_ = trial_;
  if (!instance_->restore(*trial_state_)) return failed_call();
  if (stairs.internal_step() > 0.0) take_internal_step(stairs.internal_step());
  return true;
}

/// In micro-steps with the inputs that the FMU has, until its outputs flow, or are known not to.
void CoSimulation::walk_ahead(StairWatch& stairs) {
  const double begin = now_.t, size = h_ / use_.micro_steps;
  if (!set_due_parameters()) return;
  for (int k = 1; k <= most_steps_ahead && stairs.internal_step() == 0.0 && !stairs.flows(); ++k) {
    const double left = now_.t, end = begin + k * size;
    before_ = now_.y;
    if (end > stop_ || reaches_event(end) || !step_once(end, nullptr) || !read_outputs()) return;
    stairs.look(now_.t, now_.t - left, before_ != now_.y);
  }
}

bool CoSimulation::sample(int number) {
  if (!read_outputs()) return false;
  samples_[static_cast<std::size_t>(number)] = now_.y;
  ++now_.sampled;
  return true;
}

bool CoSimulation::feed(std::span<const Polynomial> inputs, double begin, const StepPiece& piece,
                        double end) {
  if (inputs_.empty()) return true;
  if (piece.hold_at) return feed_values(inputs, *piece.hold_at);
  const double tau = now_.t == piece.begin ? piece.begin - begin : now_.t - begin;
  return feed_values(inputs, tau) &&
         (use_.input_order == 0 || feed_derivatives(inputs, tau, end - now_.t));
}

bool CoSimulation::feed_values(std::span<const Polynomial> inputs, double tau) {
  for (const std::size_t i : inputs_.places()) now_.u[i] = inputs[i](tau);
  return instance_->set(inputs_, now_.u) || failed_call();
}

/// Derivatives at tau, one order after the other; zeros only where something else was set before.
/// With fewer than three orders those of the line, or the parabola, through both ends of the step,
/// and never a Taylor series that ends elsewhere.
bool CoSimulation::feed_derivatives(std::span<const Polynomial> inputs, double tau, double size) {
  bool any = false;
  for (const std::size_t i : inputs_.places()) {
    const auto& u = inputs[i];
    auto& d = given_derivatives_[i];
    const double secant = (u(tau + size) - u(tau)) / size;
    const double bend = (u(tau + size) - 2.0 * u(tau + 0.5 * size) + u(tau)) * 4.0 / (size * size);
    if (use_.input_order >= 3)
      d = {u.derivative(tau), 2 * u.c[2] + 6 * u.c[3] * tau, 6 * u.c[3]};
    else if (use_.input_order == 2)
      d = {secant - 0.5 * size * bend, bend, 0.0};
    else
      d = {secant, 0.0, 0.0};
    any = any || d != std::array<double, 3>{};
  }
  if (!any && !now_.derivatives_set) return true;
  now_.derivatives_set = any;
  for (int order = 1; order <= use_.input_order; ++order)
    if (!feed_order(order)) return true;
  return true;
}

/// False where the FMU refuses the order: from here on it gets no such derivatives, and the
/// macro-step is cut anew where none of it was made yet.
bool CoSimulation::feed_order(int order) {
  of_order_.resize(now_.u.size());
  for (const std::size_t i : inputs_.places())
    of_order_[i] = given_derivatives_[i][static_cast<std::size_t>(order - 1)];
  if (instance_->set_input_derivatives(inputs_, order, of_order_)) [[likely]]
    return true;
  tell(instance_->failure() + "; it gets derivatives of inputs up to order " +
       std::to_string(order - 1) + " only");
  use_.input_order = piece_settings_.input_order = order - 1;
  piece_settings_.micro_steps = use_.micro_steps;
  recut_ = may_recut_ && now_.t == pieces_.front().begin;
  return false;
}

bool CoSimulation::step_once(double end, const StepPiece* piece) {
  double reached = end;
  bool event = false;
  const double before = now_.t;
  const StepEnd result = instance_->do_step(now_.t, end - now_.t, !redo_possible_, reached, event);
  ++counters_.micro_steps;
  if (result == StepEnd::completed) [[likely]] {
    now_.t = end;
    return !(event || reaches_event(end)) || !use_.event_mode || meet_event(piece);
  }
  const std::string call = setup_->model->version == FmiVersion::v2 ? "fmi2DoStep" : "fmi3DoStep";
  if (result == StepEnd::failed) return failed_call();
  if (result == StepEnd::terminated) {
    over_ = true;
    return failed(call + ": the FMU " + setup_->request.path.string() +
                  " ended the simulation (terminateSimulation)");
  }
  now_.t = std::min(reached, end);
  if (result == StepEnd::discarded)
    return reached > before ||
           failed(instance_->failure() + " for a step of " + short_number(end - before) + " s");
  return event && use_.event_mode
             ? meet_event(piece)
             : reached > before || failed(call + " returned early without having moved");
}

bool CoSimulation::read_outputs() {
  if (!instance_->get(outputs_, now_.y)) return failed_call();
  for (std::size_t i = 0; i < now_.y.size(); ++i)
    if (!std::isfinite(now_.y[i])) [[unlikely]]
      return failed("output '" + description_.outputs[i].name + "' of the FMU " +
                    setup_->request.path.string() + " is " + short_number(now_.y[i]) +
                    (initializing() ? " after initialisation" : " after DoStep"));
  return true;
}

bool CoSimulation::read_states() {
  return now_.x.empty() || instance_->get(setup_->states, now_.x) || failed_call();
}

void CoSimulation::save() {
  redo_possible_ = true;
  if (!saved_state_) saved_state_.emplace(*instance_);
  usable_ = usable_ && (instance_->save(*saved_state_) || failed_call());
  saved_ = now_;
}

void CoSimulation::restore() {
  usable_ = usable_ && (instance_->restore(*saved_state_) || failed_call());
  now_ = saved_;
}

std::unique_ptr<Subsystem> make_co_simulation(std::shared_ptr<const FmuSetup> setup,
                                              const SubsystemSettings& settings) {
  return std::make_unique<CoSimulation>(std::move(setup), settings);
}

}  // namespace concord
