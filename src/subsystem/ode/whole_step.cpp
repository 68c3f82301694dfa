#include "subsystem/ode/whole_step.hpp"

#include <algorithm>
#include <cmath>
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

void WholeSteps::refresh() {
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const unsigned changes = members_[k].in_batch->changes();
    if (changes == std::exchange(changes_[k], changes)) continue;
    fits_[k] = models_->refresh(k) ? 1 : 0;
  }
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

bool WholeSteps::evaluate(std::size_t stage, const MacroStep& step) {
  const bool at_end = stages_.pair().c(stage) == 1.0;
  const double tau = at_end ? step.size() : stages_.pair().c(stage) * step.size();
  double t = at_end ? step.end : step.begin + tau;
  if (!members_.front().model->confine(t)) return false;
  const std::span<const double> x = stage == 0 ? x_ : stages_.point(stage, sizes_, x_);
  const std::size_t from_last = stages_.pair().stages() - 1 - stage;
  if (from_last == 1) before_last_.assign(x.begin(), x.end());
  if (from_last == 0) last_.assign(x.begin(), x.end());
  models_->derivatives(t, x, inputs_at(tau), stages_.slopes(stage));
  return true;
}

void WholeSteps::take(const MacroStep& step, std::span<const Polynomial> all_inputs) {
  taken_ = false;
  if (!worth_it()) return;
  refresh();
  gather(all_inputs);
  std::ranges::fill(sizes_, step.size());
  for (std::size_t stage = 0; stage < stages_.pair().stages(); ++stage)
    if (!evaluate(stage, step)) return;
  end_ = stages_.end(sizes_, x_);
  error_ = stages_.error(sizes_);
  taken_ = true;
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

}  // namespace concord
