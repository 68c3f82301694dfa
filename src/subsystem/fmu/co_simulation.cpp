#include "subsystem/fmu/co_simulation.hpp"

#include <algorithm>
#include <cmath>

#include "concord/errors.hpp"

namespace concord {

namespace {

constexpr int most_returns = 10'000;  ///< early returns and discards within one macro-step

}  // namespace

CoSimulation::CoSimulation(std::shared_ptr<const FmuSetup> setup, const SubsystemSettings& settings)
    : Subsystem(setup->description), setup_(std::move(setup)), interface_(setup_->interface()) {
  tolerance_ = chosen_tolerance(*setup_, settings);
  if (!settings.rollback) description_.capabilities.rollback = false;
  if (!settings.linearization) description_.capabilities.linearization = false;
  if (!settings.state_derivatives) description_.capabilities.state_derivatives = false;
  instance_ = FmuInstance::make(setup_->source());
  now_.x.resize(description_.states.size());
  now_.y.resize(description_.outputs.size());
  u_.resize(description_.inputs.size());
  slopes_.resize(now_.y.size());
  samples_.assign(sampled_ends, std::vector<double>(now_.y.size()));
  piece_settings_.micro_steps = interface_.interpolates || setup_->polynomials_by_update
                                    ? 1
                                    : setup_->request.options.micro_steps;
  piece_settings_.variable_steps = interface_.variable_steps;
  piece_settings_.fixed_internal_step = interface_.fixed_internal_step;
  piece_settings_.feedthrough = !description_.feedthrough.empty();
}

void CoSimulation::start(const MacroStep& first, double stop) {
  now_.t = first.begin;
  h_ = first.size();
  if (!begin_initialization(*setup_, *instance_, first.begin, stop, tolerance_))
    throw SimulationError(instance_->failure() + " before the start");
  saved_ = now_;
}

bool CoSimulation::leave_initialization() {
  if (!initializing_) return true;
  initializing_ = false;
  if (!instance_->leave_initialization()) return failed_call();
  if (!interface_.event_mode) return true;
  EventOutcome outcome{};
  if (!instance_->update_discrete_states(outcome) || !instance_->enter_step_mode())
    return failed_call();
  return !outcome.terminate || failed("the FMU " + setup_->request.path.string() +
                                      " ended the simulation (terminateSimulation)");
}

bool CoSimulation::handle_event() {
  EventOutcome outcome{};
  if (!instance_->enter_event_mode() || !instance_->update_discrete_states(outcome) ||
      !instance_->enter_step_mode())
    return failed_call();
  return !outcome.terminate || failed("the FMU " + setup_->request.path.string() +
                                      " ended the simulation (terminateSimulation)");
}

Outcome CoSimulation::advance(const MacroStep& step, std::span<const Polynomial> inputs,
                              InputContinuity /*continuity*/, Wanted wanted,
                              std::span<Sample> outputs) {
  clock_.begin();
  ++counters_.advances;
  bool good = usable_ && leave_initialization() && run(inputs, step, wanted) && read_states();
  if (good && wanted == Wanted::values_and_derivatives)
    good = read_slopes(inputs, step.size(), outputs);
  h_ = step.size();
  for (std::size_t i = 0; good && i < now_.y.size(); ++i)
    outputs[i] = {now_.y[i], wanted == Wanted::values ? 0.0 : slopes_[i]};
  clock_.end(counters_.wall_time);
  return good ? Outcome::ok : Outcome::failed;
}

bool CoSimulation::run(std::span<const Polynomial> inputs, const MacroStep& step, Wanted wanted) {
  const bool constant = std::all_of(inputs.begin(), inputs.end(), [](const Polynomial& u) {
    return u.c[1] == 0.0 && u.c[2] == 0.0 && u.c[3] == 0.0;
  });
  const bool by_differences =
      wanted == Wanted::values_and_derivatives && slope_source() == SlopeSource::differences;
  sample_distance_ = cut_into_pieces(step, constant, by_differences, piece_settings_, pieces_);
  for (const StepPiece& piece : pieces_) {
    if (!run_piece(inputs, step.begin, piece)) return false;
    if (piece.sample && !read_outputs()) return false;
    if (piece.sample) samples_[static_cast<std::size_t>(*piece.sample)] = now_.y;
  }
  return read_outputs();
}

/// One piece of the macro-step: usually one step of the FMU, more where it returns early.
bool CoSimulation::run_piece(std::span<const Polynomial> inputs, double begin,
                             const StepPiece& piece) {
  if (setup_->polynomials_by_update)
    instance_->on_intermediate_update([&, begin](double time) {
      for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = inputs[i](time - begin);
      if (!instance_->set(setup_->inputs, u_)) throw SimulationError(instance_->failure());
    });
  for (int attempt = 0; now_.t < piece.end; ++attempt) {
    if (attempt > most_returns) return failed("the FMU returns early without end");
    const double tau = now_.t == piece.begin ? piece.begin - begin : now_.t - begin;
    const bool held = piece.hold_at.has_value();
    if (!(held ? feed_constant(inputs, *piece.hold_at) : feed(inputs, tau))) return false;
    if (!step_once(piece.end)) return false;
  }
  return true;
}

bool CoSimulation::feed(std::span<const Polynomial> inputs, double tau) {
  return feed_constant(inputs, tau) && (!interface_.interpolates || feed_derivatives(inputs, tau));
}

bool CoSimulation::feed_constant(std::span<const Polynomial> inputs, double tau) {
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = inputs[i](tau);
  return instance_->set(setup_->inputs, u_) || failed_call();
}

/// u', u'', u''' at tau, of the real inputs; zeros only where something else was set before.
bool CoSimulation::feed_derivatives(std::span<const Polynomial> inputs, double tau) {
  const int highest = setup_->request.options.input_derivatives;
  slope_references_.clear();
  orders_.clear();
  order_values_.clear();
  bool any = false;
  for (const FmuPorts::Item& item : setup_->inputs.items()) {
    if (item.type != FmiType::float64) continue;
    const auto& c = inputs[item.first].c;
    const double derivative[] = {c[1] + tau * (2 * c[2] + tau * 3 * c[3]),
                                 2 * c[2] + 6 * c[3] * tau, 6 * c[3]};
    for (int order = 1; order <= highest; ++order) {
      slope_references_.push_back(item.reference);
      orders_.push_back(order);
      order_values_.push_back(derivative[order - 1]);
      any = any || derivative[order - 1] != 0.0;
    }
  }
  if (orders_.empty() || (!any && !derivatives_set_)) return true;
  derivatives_set_ = any;
  return instance_->set_input_derivatives(slope_references_, orders_, order_values_) ||
         failed_call();
}

bool CoSimulation::step_once(double end) {
  double reached = end;
  bool event = false;
  const double before = now_.t;
  const StepEnd result = instance_->do_step(now_.t, end - now_.t, !redo_possible_, reached, event);
  ++counters_.micro_steps;
  if (result == StepEnd::completed) [[likely]] {
    now_.t = end;
    return !event || handle_event();
  }
  const std::string call = setup_->model->version == FmiVersion::v2 ? "fmi2DoStep" : "fmi3DoStep";
  if (result == StepEnd::failed) return failed_call();
  if (result == StepEnd::terminated)
    return failed(call + ": the FMU " + setup_->request.path.string() +
                  " ended the simulation (terminateSimulation)");
  now_.t = std::min(reached, end);
  if (result == StepEnd::discarded)
    return reached > before ||
           failed(instance_->failure() + " for a step of " + short_number(end - before) + " s");
  return event ? handle_event()
               : reached > before || failed(call + " returned early without having moved");
}

bool CoSimulation::read_outputs() {
  if (!instance_->get(setup_->outputs, now_.y)) return failed_call();
  for (std::size_t i = 0; i < now_.y.size(); ++i)
    if (!std::isfinite(now_.y[i])) [[unlikely]]
      return failed("output '" + description_.outputs[i].name + "' of the FMU " +
                    setup_->request.path.string() + " is " + short_number(now_.y[i]) +
                    (initializing_ ? " after initialisation" : " after DoStep"));
  return true;
}

bool CoSimulation::read_states() {
  return now_.x.empty() || instance_->get(setup_->states, now_.x) || failed_call();
}

/// Initialisation mode is left first: few FMUs find their way back into it.
void CoSimulation::save() {
  redo_possible_ = true;
  usable_ =
      usable_ && leave_initialization() && (instance_->get_state(saved_state_) || failed_call());
  saved_ = now_;
}

void CoSimulation::restore() {
  usable_ = usable_ && (instance_->set_state(saved_state_) || failed_call());
  now_ = saved_;
}

std::unique_ptr<Subsystem> make_co_simulation(std::shared_ptr<const FmuSetup> setup,
                                              const SubsystemSettings& settings) {
  return std::make_unique<CoSimulation>(std::move(setup), settings);
}

}  // namespace concord
