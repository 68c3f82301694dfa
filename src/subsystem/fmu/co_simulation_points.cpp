#include <algorithm>
#include <utility>

#include "subsystem/fmu/co_simulation.hpp"

namespace concord {

namespace {

bool all_zero(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0.0; });
}

}  // namespace

SlopeSource CoSimulation::slope_source() const {
  if (use_.output_slopes) return SlopeSource::fmu;
  if (description_.capabilities.linearization) return SlopeSource::linearization;
  return use_.variable_steps ? SlopeSource::differences : SlopeSource::none;
}

bool CoSimulation::read_slopes(std::span<const Polynomial> inputs, double h) {
  std::fill(slopes_.begin(), slopes_.end(), 0.0);
  switch (slope_source()) {
    case SlopeSource::fmu:
      return slopes_of_fmu();
    case SlopeSource::linearization:
      return slopes_by_linearization(inputs, h);
    case SlopeSource::differences:
      slopes_by_differences();
      return true;
    case SlopeSource::none:
      break;
  }
  return true;
}

/// Where the FMU refuses, its slopes are 0 this time and found otherwise from then on.
bool CoSimulation::slopes_of_fmu() {
  if (instance_->get_output_derivatives(outputs_, slopes_)) [[likely]]
    return true;
  std::fill(slopes_.begin(), slopes_.end(), 0.0);
  if (instance_->last_was_discard() && now_.t == start_) return true;
  tell(instance_->failure() +
       "; its output derivatives are not used from t = " + short_number(now_.t) + " s on");
  use_.output_slopes = false;
  return true;
}

/// y' = g_x f + g_u u'.
bool CoSimulation::slopes_by_linearization(std::span<const Polynomial> inputs, double h) {
  if (!find_jacobians(linear_)) return false;
  const std::size_t n_st = now_.x.size(), n_in = now_.u.size();
  ends_.resize(n_in);
  for (std::size_t j = 0; j < n_in; ++j) ends_[j] = inputs[j].at(h);
  linear_.f.resize(n_st);
  if (!read_derivatives(ends_, linear_.f)) return false;
  for (std::size_t i = 0; i < slopes_.size(); ++i) {
    for (std::size_t j = 0; j < n_st; ++j) slopes_[i] += linear_.g_x[i * n_st + j] * linear_.f[j];
    for (std::size_t j = 0; j < n_in; ++j)
      slopes_[i] += linear_.g_u[i * n_in + j] * ends_[j].derivative;
  }
  return true;
}

/// From the samples since the last event; of the whole macro-step where it is too short for them.
void CoSimulation::slopes_by_differences() {
  const auto& outputs = description_.outputs;
  if (now_.sampled == sampled_ends) {
    slopes_at_end(samples_, sample_distance_, slopes_);
  } else if (now_.sampled > 1) {
    const std::size_t last = sampled_ends - 1;
    for (std::size_t i = 0; i < slopes_.size(); ++i)
      slopes_[i] = (samples_[last][i] - samples_[last - 1][i]) / sample_distance_;
  }
  for (std::size_t i = 0; i < slopes_.size(); ++i)
    if (outputs[i].kind == SignalKind::held) slopes_[i] = 0.0;
}

/// After initialisation the outputs are those that were put out last.
Outcome CoSimulation::point_outputs(std::span<const Sample> inputs, Wanted wanted,
                                    std::span<Sample> outputs) {
  if (initializing()) {
    for (std::size_t i = 0; i < now_.u.size(); ++i)
      if (fed_[i] != 0) now_.u[i] = inputs[i].value;
    const bool taken =
        (instance_->set(inputs_, now_.u) && instance_->set(held_, now_.u)) || failed_call();
    if (!taken || !read_outputs() || !read_states()) return Outcome::failed;
  }
  for (std::size_t i = 0; i < now_.y.size(); ++i) outputs[i] = {now_.y[i], 0.0};
  if (wanted == Wanted::values) return Outcome::ok;
  return start_slopes(inputs, outputs) ? Outcome::ok : Outcome::failed;
}

/// y' before a step: by linearization, by a trial that is rolled back, as the FMU tells, or zero.
bool CoSimulation::start_slopes(std::span<const Sample> inputs, std::span<Sample> outputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    lines_[i].c = {inputs[i].value, inputs[i].derivative, 0.0, 0.0};
  std::fill(slopes_.begin(), slopes_.end(), 0.0);
  if (!looked_ahead_ && use_.state && !initializing() && !look_ahead()) return false;
  const bool can_try = use_.variable_steps && use_.state && use_.internal_step == 0.0;
  bool good = true;
  if (description_.capabilities.linearization)
    good = slopes_by_linearization(lines_, 0.0);
  else if (can_try)
    good = try_forward(lines_);
  else if (slope_source() == SlopeSource::fmu)
    good = slopes_of_fmu();
  for (std::size_t i = 0; good && i < slopes_.size(); ++i) outputs[i].derivative = slopes_[i];
  return good;
}

/// Four short steps with inputs u + u' tau, and back; none beyond the stop.
bool CoSimulation::try_forward(std::span<const Polynomial> lines) {
  constexpr double before_stop = 0.999;
  const double size =
      std::min(1e-3 * h_, before_stop * (stop_ - now_.t) / static_cast<double>(forward_samples));
  if (!(now_.t + size > now_.t)) return true;
  if (!trial_state_) trial_state_.emplace(*instance_);
  if (!instance_->save(*trial_state_)) return failed_call();
  trial_ = now_;
  const bool redo_was_possible = std::exchange(redo_possible_, true);
  const double begin = now_.t;
  bool good = set_due_parameters() && feed_held(lines);
  now_.sampled = 0;
  for (int k = 0; good && k < forward_samples; ++k) {
    const double left = begin + k * size, right = begin + (k + 1) * size;
    for (const StepPiece& piece : pieces_to(left, right, begin, piece_settings_))
      good = good && run_piece(lines, begin, piece);
    good = good && sample(k);
  }
  const bool smooth = now_.sampled == forward_samples;
  const bool back = instance_->restore(*trial_state_) || failed_call();
  now_ = trial_;
  redo_possible_ = redo_was_possible;
  if (good && smooth) slopes_at_start(now_.y, samples_, size, slopes_);
  for (std::size_t i = 0; i < slopes_.size(); ++i)
    if (description_.outputs[i].kind == SignalKind::held) slopes_[i] = 0.0;
  return good && back;
}

/// f for these inputs: the FMU may have others, held in the middle of the last micro-step, from
/// which f_u leads to them.
bool CoSimulation::read_derivatives(std::span<const Sample> inputs, std::span<double> result) {
  if (!instance_->get(setup_->derivatives, result)) return failed_call();
  change_.assign(now_.u.size(), 0.0);
  for (const std::size_t i : inputs_.places()) change_[i] = inputs[i].value - now_.u[i];
  if (!use_.directional || all_zero(change_)) return true;
  correction_.resize(result.size());
  if (!instance_->directional(setup_->derivatives, inputs_, change_, correction_)) return true;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += correction_[i];
  return true;
}

Outcome CoSimulation::state_derivatives(std::span<const Sample> inputs, std::span<double> result) {
  return read_derivatives(inputs, result) ? Outcome::ok : Outcome::failed;
}

/// Where the FMU refuses directional derivatives in the middle of a run, the last ones stay.
bool CoSimulation::find_jacobians(Linearization& result) {
  const std::size_t n_st = now_.x.size(), n_in = now_.u.size(), n_out = now_.y.size();
  const auto partial = [&](const FmuPorts& unknowns, std::size_t rows, const FmuPorts& knowns,
                           std::size_t columns, std::vector<double>& matrix) {
    matrix.resize(rows * columns);
    return instance_->partial(unknowns, rows, knowns, columns, matrix);
  };
  const FmuPorts &states = setup_->states, &derivatives = setup_->derivatives;
  if (use_.directional && partial(derivatives, n_st, states, n_st, found_.f_x) &&
      partial(derivatives, n_st, all_inputs_, n_in, found_.f_u) &&
      partial(outputs_, n_out, states, n_st, found_.g_x) &&
      partial(outputs_, n_out, all_inputs_, n_in, found_.g_u)) {
    linearized_ = true;
  } else if (!linearized_) {
    return failed(instance_->failure() + "; withhold its directional derivatives (-subsystem_" +
                  description_.name + "_linearization false)");
  } else if (std::exchange(use_.directional, false)) {
    tell(instance_->failure() + " at t = " + short_number(now_.t) +
         " s; its directional derivatives from before are used from here on");
  }
  result.f_x = found_.f_x;
  result.f_u = found_.f_u;
  result.g_x = found_.g_x;
  result.g_u = found_.g_u;
  return true;
}

Outcome CoSimulation::linearize(std::span<const Sample> inputs, Linearization& result) {
  const std::size_t n_st = now_.x.size();
  result.f.resize(n_st);
  result.f_t.assign(n_st, 0.0);
  result.g_t.assign(now_.y.size(), 0.0);
  result.g = now_.y;
  return find_jacobians(result) && read_derivatives(inputs, result.f) ? Outcome::ok
                                                                      : Outcome::failed;
}

}  // namespace concord
