#include "subsystem/ode/whole_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "subsystem/ode/checked_model.hpp"
#include "support/scratch.hpp"

namespace concord {

namespace {

constexpr std::size_t n_coefficients = std::tuple_size_v<decltype(Polynomial::c)>;

std::unique_ptr<ModelBatch> together(std::span<const WholeSteps::Member> members) {
  std::vector<BatchModel*> models;
  for (const auto& member : members) models.push_back(member.in_batch);
  return models.front()->batch(models);
}

/// What all batches need while they take a micro-step, one after the other.
ErkStages& shared_stages(const ErkPair& pair, std::size_t states, std::size_t lanes) {
  static std::optional<ErkStages> stages;
  if (!stages || !stages->is_for(pair, states, lanes)) stages.emplace(pair, states, lanes);
  return *stages;
}

/// Whether a coefficient from this one on is other than +0.
bool has_from(const Polynomial& input, std::size_t first) {
  return std::any_of(input.c.begin() + static_cast<std::ptrdiff_t>(first), input.c.end(),
                     [](double c) { return c != 0.0 || std::signbit(c); });
}

}  // namespace

WholeSteps::WholeSteps(const ErkPair& pair, std::vector<Member> members)
    : pair_(pair),
      members_(std::move(members)),
      models_(together(members_)),
      fits_(members_.size(), 1),
      ways_(members_.size(), 0),
      twice_(members_.size(), 0),
      used_(members_.size()) {
  for (const Member& member : members_) changes_.push_back(member.in_batch->changes());
}

std::size_t WholeSteps::row() const {
  return members_.front().model->state_count() * members_.size();
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

/// Coefficients that are 0 in all polynomials are none, but for the sign of -0, which shows.
void WholeSteps::gather(std::span<const Polynomial> all_inputs) {
  const std::size_t n = members_.size(), inputs = members_.front().model->input_count();
  const std::size_t row = n * inputs;
  std::size_t count = 1;
  for (const Member& member : members_)
    for (const Polynomial& input : all_inputs.subspan(member.first_input, inputs))
      while (count < n_coefficients && has_from(input, count)) ++count;
  coefficients_.resize(count * row);
  for (std::size_t k = 0; k < n; ++k) {
    const Member& member = members_[k];
    const std::span<double> x = rows(begin_);
    for (std::size_t i = 0; i < member.x->size(); ++i) x[i * n + k] = (*member.x)[i];
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t j = 0; j < count; ++j)
        coefficients_[j * row + i * n + k] = all_inputs[member.first_input + i].c[j];
  }
}

/// As Polynomial does, whose first sum is one with +0 where the highest coefficients are.
std::span<const double> WholeSteps::inputs_at(double tau) {
  static std::vector<double> u;
  const std::size_t row = members_.size() * members_.front().model->input_count();
  if (row == 0) return {};
  const std::size_t count = coefficients_.size() / row;
  const double* const c = coefficients_.data();
  u.resize(row);
  const double missing = count < n_coefficients ? 0.0 : -0.0;
  for (std::size_t i = 0; i < row; ++i) u[i] = c[(count - 1) * row + i] + missing;
  for (std::size_t j = count - 1; j-- > 0;)
    for (std::size_t i = 0; i < row; ++i) u[i] = c[j * row + i] + tau * u[i];
  return {u.data(), row};
}

std::span<const double> WholeSteps::input_slopes_at(double tau) {
  static std::vector<double> du;
  const std::size_t row = members_.size() * members_.front().model->input_count();
  const std::size_t count = row > 0 ? coefficients_.size() / row : 0;
  Scratch scratch;
  const std::span<double> zeros = scratch.numbers(row);
  std::ranges::fill(zeros, 0.0);
  std::array<const double*, n_coefficients> c{};
  for (std::size_t j = 0; j < c.size(); ++j)
    c[j] = j < count ? coefficients_.data() + j * row : zeros.data();
  du.resize(row);
  for (std::size_t i = 0; i < row; ++i) {
    du[i] = c[1][i] + tau * (2.0 * c[2][i] + tau * 3.0 * c[3][i] +
                             tau * tau * (4.0 * c[4][i] + tau * 5.0 * c[5][i]));
  }
  return {du.data(), row};
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

bool WholeSteps::evaluate(ErkStages& stages, std::size_t stage, std::span<const double> sizes,
                          std::span<double> before_last) {
  const bool at_end = pair_.c(stage) == 1.0;
  const double tau = at_end ? step_.size() : pair_.c(stage) * step_.size();
  const double t = at_end ? step_.end : step_.begin + tau;
  const std::span<const double> begin = rows(begin_);
  const std::span<const double> x = stage == 0 ? begin : stages.point(stage, sizes, begin);
  const std::size_t from_last = pair_.stages() - 1 - stage;
  if (from_last == 1) std::ranges::copy(x, before_last.begin());
  if (from_last == 0) std::ranges::copy(x, rows(last_).begin());
  return derivatives(t, x, inputs_at(tau), stages.slopes(stage));
}

bool WholeSteps::take() {
  const std::size_t n = members_.size();
  ErkStages& stages = shared_stages(pair_, members_.front().model->state_count(), n);
  Scratch scratch;
  const std::span<double> sizes = scratch.numbers(n), before_last = scratch.numbers(row());
  std::ranges::fill(sizes, step_.size());
  for (std::size_t stage = 0; stage < pair_.stages(); ++stage)
    if (!evaluate(stages, stage, sizes, before_last)) return false;
  note_last_stages(before_last);
  std::ranges::copy(stages.slopes(0), rows(first_slopes_).begin());
  std::ranges::copy(stages.slopes(pair_.stages() - 1), rows(last_slopes_).begin());
  std::ranges::copy(stages.end(sizes, rows(begin_)), rows(end_).begin());
  std::ranges::copy(stages.error(sizes), rows(error_).begin());
  return true;
}

void WholeSteps::note_last_stages(std::span<const double> before_last) {
  const std::size_t n = members_.size();
  const bool at_once = pair_.c(pair_.stages() - 2) == pair_.c(pair_.stages() - 1);
  std::ranges::fill(twice_, at_once ? 1 : 0);
  const std::span<const double> last = rows(last_);
  for (std::size_t at = 0; at_once && at < last.size(); ++at)
    if (!same_bits(before_last.subspan(at, 1), last.subspan(at, 1))) twice_[at % n] = 0;
}

void WholeSteps::begin(const MacroStep& step, std::span<const Polynomial> inputs) {
  taken_ = knows_outputs_ = false;
  std::ranges::fill(ways_, 0);
  if (!worth_it()) return;
  step_ = step;
  refresh();
  rows_.resize(n_rows * row());
  gather(inputs);
  taken_ = take();
}

AdvanceBatch::Way WholeSteps::way() const {
  if (rows_.empty()) return {step_, ways_, {}, {}, {}, {}};
  return {step_, ways_, rows(begin_), rows(end_), rows(first_slopes_), rows(last_slopes_)};
}

/// The slopes of the last stage are those at the end.
void WholeSteps::find_outputs() {
  knows_outputs_ = true;
  y_.resize(members_.front().model->output_count() * members_.size());
  dy_.resize(y_.size());
  double t = step_.end;
  if (!pair_.ends_at_last_stage() || !members_.front().model->confine(t)) {
    std::ranges::fill(y_, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const auto u = inputs_at(step_.size());
  models_->outputs(t, rows(end_), u, y_);
  models_->output_slopes(t, rows(end_), u, {rows(last_slopes_), input_slopes_at(step_.size())},
                         dy_);
}

/// An error is not finite where any slope isn't.
bool WholeStep::is(const ErkPair& pair, double size, std::span<const double> x) const {
  if (steps_ == nullptr || !steps_->taken_ || steps_->fits_[lane_] == 0) return false;
  if (&steps_->pair_ != &pair || steps_->step_.size() != size) return false;
  const std::size_t n = steps_->members_.size();
  const WholeSteps& steps = *steps_;
  const auto begin = steps.rows(WholeSteps::begin_), error = steps.rows(WholeSteps::error_);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (begin[i * n + lane_] != x[i] || !std::isfinite(error[i * n + lane_])) return false;
  return true;
}

void WholeStep::gather(std::size_t which, std::span<double> own) const {
  const std::size_t n = steps_->members_.size();
  const auto rows = std::as_const(*steps_).rows(which);
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = rows[i * n + lane_];
}

bool WholeStep::are_here(std::span<const double> values, std::size_t which) const {
  const std::size_t n = steps_->members_.size();
  const auto rows = std::as_const(*steps_).rows(which);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!same_bits(values.subspan(i, 1), rows.subspan(i * n + lane_, 1))) return false;
  return true;
}

void WholeStep::note_way(std::span<const double> begin, std::span<const double> end) const {
  if (steps_ == nullptr || !is(steps_->pair_, steps_->step_.size(), begin)) return;
  const bool ends_here = steps_->pair_.ends_at_last_stage() && are_here(end, WholeSteps::end_);
  steps_->ways_[lane_] = ends_here && are_here(begin, WholeSteps::begin_) ? 1 : 0;
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
