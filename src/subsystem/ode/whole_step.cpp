#include "subsystem/ode/whole_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "subsystem/ode/checked_model.hpp"

namespace concord {

namespace {

constexpr std::size_t n_coefficients = std::tuple_size_v<decltype(Polynomial::c)>;

std::unique_ptr<ModelBatch> together(std::span<const WholeSteps::Member> members) {
  std::vector<BatchModel*> models;
  for (const auto& member : members) models.push_back(member.in_batch);
  return models.front()->batch(models);
}

}  // namespace

WholeSteps::WholeSteps(const ErkPair& pair, std::vector<Member> members)
    : members_(std::move(members)),
      models_(together(members_)),
      fits_(members_.size(), 1),
      stages_(pair, members_.front().model->state_count(), members_.size()),
      sizes_(members_.size()),
      x_(members_.front().model->state_count() * members_.size()),
      coefficients_(n_coefficients * members_.front().model->input_count() * members_.size()),
      u_(members_.front().model->input_count() * members_.size()),
      du_(u_.size()),
      y_(members_.front().model->output_count() * members_.size()),
      dy_(y_.size()),
      ways_(members_.size(), 0),
      used_(members_.size()) {
  for (const Member& member : members_) changes_.push_back(member.in_batch->changes());
}

bool WholeSteps::worth_it() {
  constexpr int long_rest = 16;
  if (rest_ > 0) {
    if (--rest_ == 0) used_ = members_.size();
    return false;
  }
  if (2 * used_ < members_.size()) {
    rest_ = long_rest;
    return false;
  }
  used_ = 0;
  return true;
}

bool WholeSteps::refresh() {
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const unsigned changes = members_[k].in_batch->changes();
    if (changes == std::exchange(changes_[k], changes)) continue;
    fits_[k] = models_->refresh(k) ? 1 : 0;
    ++version_;
  }
  return std::ranges::all_of(fits_, [](char fits) { return fits != 0; });
}

bool WholeSteps::keeps_derivatives() const {
  return std::ranges::all_of(
      members_, [](const Member& member) { return member.model->constant_jacobians(); });
}

void WholeSteps::count_evaluations(std::int64_t count) {
  for (const Member& member : members_) member.model->take_over(count);
}

void WholeSteps::gather(std::span<const Polynomial> all_inputs) {
  const std::size_t n = members_.size(), row = u_.size();
  for (std::size_t k = 0; k < n; ++k) {
    const Member& member = members_[k];
    for (std::size_t i = 0; i < member.x->size(); ++i) x_[i * n + k] = (*member.x)[i];
    for (std::size_t i = 0; i * n < row; ++i)
      for (std::size_t j = 0; j < n_coefficients; ++j)
        coefficients_[j * row + i * n + k] = all_inputs[member.first_input + i].c[j];
  }
}

/// As Polynomial does.
std::span<const double> WholeSteps::inputs_at(double tau) {
  const std::size_t row = u_.size();
  const double* const c = coefficients_.data();
  std::copy_n(c + (n_coefficients - 1) * row, row, u_.begin());
  for (std::size_t j = n_coefficients - 1; j-- > 0;)
    for (std::size_t i = 0; i < row; ++i) u_[i] = c[j * row + i] + tau * u_[i];
  return u_;
}

std::span<const double> WholeSteps::input_slopes_at(double tau) {
  const std::size_t row = u_.size();
  const double* const c = coefficients_.data();
  for (std::size_t i = 0; i < row; ++i) {
    du_[i] = c[row + i] + tau * (2.0 * c[2 * row + i] + tau * 3.0 * c[3 * row + i] +
                                 tau * tau * (4.0 * c[4 * row + i] + tau * 5.0 * c[5 * row + i]));
  }
  return du_;
}

bool WholeSteps::derivatives(double t, std::span<const double> x, std::span<const double> u,
                             std::span<double> dxdt) {
  if (!members_.front().model->confine(t)) return false;
  models_->derivatives(t, x, u, dxdt);
  return true;
}

bool WholeSteps::outputs(double t, std::span<const double> x, std::span<const double> u,
                         std::span<double> y) {
  if (!members_.front().model->confine(t)) return false;
  models_->outputs(t, x, u, y);
  return true;
}

bool WholeSteps::evaluate(std::size_t stage) {
  const bool at_end = stages_.pair().c(stage) == 1.0;
  const double tau = at_end ? step_.size() : stages_.pair().c(stage) * step_.size();
  const double t = at_end ? step_.end : step_.begin + tau;
  const std::span<const double> x = stage == 0 ? x_ : stages_.point(stage, sizes_, x_);
  const std::size_t from_last = stages_.pair().stages() - 1 - stage;
  if (from_last == 1) before_last_.assign(x.begin(), x.end());
  if (from_last == 0) last_.assign(x.begin(), x.end());
  return derivatives(t, x, inputs_at(tau), stages_.slopes(stage));
}

void WholeSteps::begin(const MacroStep& step, std::span<const Polynomial> inputs) {
  taken_ = knows_outputs_ = false;
  std::ranges::fill(ways_, 0);
  if (!worth_it()) return;
  step_ = step;
  refresh();
  gather(inputs);
  std::ranges::fill(sizes_, step.size());
  for (std::size_t stage = 0; stage < stages_.pair().stages(); ++stage)
    if (!evaluate(stage)) return;
  end_ = stages_.end(sizes_, x_);
  error_ = stages_.error(sizes_);
  taken_ = true;
}

AdvanceBatch::Way WholeSteps::way() const {
  return {step_, ways_, x_, end_, stages_.slopes(0), last_slopes()};
}

/// The slopes of the last stage are those at the end.
void WholeSteps::find_outputs() {
  knows_outputs_ = true;
  double t = step_.end;
  if (!stages_.pair().ends_at_last_stage() || !members_.front().model->confine(t)) {
    std::ranges::fill(y_, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const auto u = inputs_at(step_.size());
  models_->outputs(t, end_, u, y_);
  models_->output_slopes(t, end_, u, {last_slopes(), input_slopes_at(step_.size())}, dy_);
}

/// An error is not finite where any slope isn't.
bool WholeStep::is(const ErkPair& pair, double size, std::span<const double> x) const {
  if (steps_ == nullptr || !steps_->taken_ || steps_->fits_[lane_] == 0) return false;
  if (&steps_->stages_.pair() != &pair || steps_->sizes_[lane_] != size) return false;
  const std::size_t n = steps_->members_.size();
  for (std::size_t i = 0; i < x.size(); ++i)
    if (steps_->x_[i * n + lane_] != x[i] || !std::isfinite(steps_->error_[i * n + lane_]))
      return false;
  return true;
}

void WholeStep::gather(std::span<const double> rows, std::span<double> own) const {
  const std::size_t n = steps_->members_.size();
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = rows[i * n + lane_];
}

bool WholeStep::are_here(std::span<const double> values, std::span<const double> rows) const {
  const std::size_t n = steps_->members_.size();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!same_bits(values.subspan(i, 1), rows.subspan(i * n + lane_, 1))) return false;
  return true;
}

bool WholeStep::ends_twice_the_same() const {
  const ErkPair& pair = steps_->stages_.pair();
  if (pair.c(pair.stages() - 2) != pair.c(pair.stages() - 1)) return false;
  const std::size_t n = steps_->members_.size();
  for (std::size_t at = lane_; at < steps_->last_.size(); at += n)
    if (!same_bits(std::span(steps_->before_last_).subspan(at, 1),
                   std::span(steps_->last_).subspan(at, 1)))
      return false;
  return true;
}

void WholeStep::note_way(std::span<const double> begin, std::span<const double> end) const {
  if (steps_ == nullptr || !is(steps_->stages_.pair(), steps_->step_.size(), begin)) return;
  const bool ends_here = steps_->stages_.pair().ends_at_last_stage() && are_here(end, steps_->end_);
  steps_->ways_[lane_] = ends_here && are_here(begin, steps_->x_) ? 1 : 0;
}

bool WholeStep::outputs(Wanted wanted, std::span<Sample> outputs) const {
  if (steps_ == nullptr || !steps_->taken_ || steps_->ways_[lane_] == 0) return false;
  if (!steps_->knows_outputs_) steps_->find_outputs();
  const std::size_t n = steps_->members_.size();
  const bool slopes = wanted != Wanted::values;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const double value = steps_->y_[o * n + lane_], slope = steps_->dy_[o * n + lane_];
    if (!std::isfinite(value) || (slopes && !std::isfinite(slope))) return false;
    outputs[o] = {value, slopes ? slope : 0.0};
  }
  return true;
}

}  // namespace concord
