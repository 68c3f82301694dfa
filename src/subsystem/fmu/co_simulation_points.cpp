#include <algorithm>

#include "subsystem/fmu/co_simulation.hpp"

namespace concord {

SlopeSource CoSimulation::slope_source() const {
  if (interface_.output_derivative_order > 0) return SlopeSource::fmu;
  if (description_.capabilities.linearization) return SlopeSource::linearization;
  return interface_.variable_steps && interface_.fixed_internal_step == 0.0
             ? SlopeSource::differences
             : SlopeSource::none;
}

bool CoSimulation::read_slopes(std::span<const Polynomial> inputs, double h,
                               std::span<Sample> outputs) {
  switch (slope_source()) {
    case SlopeSource::fmu: {
      const std::vector<int> first_order(setup_->outputs.references().size(), 1);
      return instance_->get_output_derivatives(setup_->outputs.references(), first_order,
                                               slopes_) ||
             failed_call();
    }
    case SlopeSource::linearization:
      return slopes_by_linearization(inputs, h, outputs);
    case SlopeSource::differences:
      slopes_at_end(samples_, sample_distance_, slopes_);
      return true;
    case SlopeSource::none:
      std::fill(slopes_.begin(), slopes_.end(), 0.0);
  }
  return true;
}

/// y' = g_x f + g_u u'.
bool CoSimulation::slopes_by_linearization(std::span<const Polynomial> inputs, double h,
                                           std::span<Sample> /*outputs*/) {
  if (linearize({}, linear_) == Outcome::failed) return false;
  const std::size_t n_st = now_.x.size(), n_in = u_.size();
  for (std::size_t i = 0; i < slopes_.size(); ++i) {
    slopes_[i] = 0.0;
    for (std::size_t j = 0; j < n_st; ++j) slopes_[i] += linear_.g_x[i * n_st + j] * linear_.f[j];
    for (std::size_t j = 0; j < n_in; ++j)
      slopes_[i] += linear_.g_u[i * n_in + j] * inputs[j].derivative(h);
  }
  return true;
}

Outcome CoSimulation::point_outputs(std::span<const Sample> inputs, Wanted wanted,
                                    std::span<Sample> outputs) {
  if (initializing_) {
    for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = inputs[i].value;
    const bool taken = instance_->set(setup_->inputs, u_) || failed_call();
    if (!taken || !read_outputs() || !read_states()) return Outcome::failed;
  } else if (wanted == Wanted::values) {
    failed("co-simulation gives no outputs for new inputs without a step");
    return Outcome::failed;
  }
  for (std::size_t i = 0; i < now_.y.size(); ++i) outputs[i] = {now_.y[i], 0.0};
  if (wanted == Wanted::values) return Outcome::ok;
  return start_slopes(inputs, outputs) ? Outcome::ok : Outcome::failed;
}

/// y' before the first step: by linearization, by a trial that is rolled back, as the FMU tells, or
/// zero.
bool CoSimulation::start_slopes(std::span<const Sample> inputs, std::span<Sample> outputs) {
  std::vector<Polynomial> lines(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    lines[i].c = {inputs[i].value, inputs[i].derivative, 0.0, 0.0};
  if (description_.capabilities.linearization) {
    if (!slopes_by_linearization(lines, 0.0, outputs)) return false;
  } else if (interface_.variable_steps && description_.capabilities.rollback) {
    if (!try_forward(inputs, outputs)) return false;
  } else if (slope_source() == SlopeSource::fmu) {
    const bool good = leave_initialization() && read_slopes(lines, 0.0, outputs);
    if (!good && !instance_->last_was_discard()) return false;
    if (!good) std::fill(slopes_.begin(), slopes_.end(), 0.0);
  } else {
    std::fill(slopes_.begin(), slopes_.end(), 0.0);
  }
  for (std::size_t i = 0; i < slopes_.size(); ++i) outputs[i].derivative = slopes_[i];
  return true;
}

/// Four short steps with inputs u + u' tau, and back.
bool CoSimulation::try_forward(std::span<const Sample> inputs, std::span<Sample> outputs) {
  std::vector<Polynomial> lines(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    lines[i].c = {inputs[i].value, inputs[i].derivative, 0.0, 0.0};
  save();
  const double begin = now_.t, size = 1e-3 * h_;
  bool good = leave_initialization();
  for (int k = 0; good && k < forward_samples; ++k) {
    const double left = begin + k * size, right = begin + (k + 1) * size;
    good = true;
    for (const StepPiece& piece : pieces_to(left, right, begin, piece_settings_))
      good = good && run_piece(lines, begin, piece);
    good = good && read_outputs();
    if (good) samples_[static_cast<std::size_t>(k)] = now_.y;
  }
  restore();
  std::vector<double> y(outputs.size());
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = outputs[i].value;
  if (good) slopes_at_start(y, samples_, size, slopes_);
  return good;
}

Outcome CoSimulation::state_derivatives(std::span<const Sample> /*inputs*/,
                                        std::span<double> result) {
  return instance_->get(setup_->derivatives, result) || failed_call() ? Outcome::ok
                                                                      : Outcome::failed;
}

/// result = d unknowns / d knowns, row-major, column by column.
bool CoSimulation::partial(std::span<const FmiReference> unknowns, std::size_t rows,
                           std::span<const FmiReference> knowns, std::vector<double>& result) {
  const std::size_t columns = knowns.size();
  result.assign(rows * columns, 0.0);
  seed_.assign(1, 1.0);
  std::vector<double> column(rows);
  for (std::size_t j = 0; rows > 0 && j < columns; ++j) {
    if (!instance_->directional_derivative(unknowns, knowns.subspan(j, 1), seed_, column))
      return failed_call();
    for (std::size_t i = 0; i < rows; ++i) result[i * columns + j] = column[i];
  }
  return true;
}

Outcome CoSimulation::linearize(std::span<const Sample> /*inputs*/, Linearization& result) {
  const auto inputs = setup_->inputs.references(), outputs = setup_->outputs.references();
  const auto states = setup_->states.references(), slopes = setup_->derivatives.references();
  const std::size_t n_st = now_.x.size(), n_out = now_.y.size();
  result.f.resize(n_st);
  result.f_t.assign(n_st, 0.0);
  result.g_t.assign(n_out, 0.0);
  result.g = now_.y;
  const bool good =
      partial(slopes, n_st, states, result.f_x) && partial(slopes, n_st, inputs, result.f_u) &&
      partial(outputs, n_out, states, result.g_x) && partial(outputs, n_out, inputs, result.g_u) &&
      (instance_->get(setup_->derivatives, result.f) || failed_call());
  return good ? Outcome::ok : Outcome::failed;
}

}  // namespace concord
