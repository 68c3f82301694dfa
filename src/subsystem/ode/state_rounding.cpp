#include "subsystem/ode/state_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace concord {

namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon();
constexpr double sqrt_eps = 1.0 / 67108864.0;  // 2^-26
constexpr double unbounded = std::numeric_limits<double>::infinity();

/// Error tests see rounding of several stages.
constexpr double margin = 10.0;

/// Rounding may happen to vanish at one point.
constexpr std::size_t samples = 4;

/// Several units in the last place, of either sign, in no order that a model might have.
double displacement(std::size_t sample, std::size_t j) {
  const auto k = static_cast<double>(1 + sample + samples * j);
  const double length = 4.0 + 2.0 * std::sin(k * k);
  return std::cos(1.7 * k * k) < 0.0 ? -length * rounding : length * rounding;
}

}  // namespace

StateRounding::StateRounding(CheckedModel& model)
    : model_(model),
      x_(model.state_count()),
      u_(model.input_count()),
      f_(model.state_count()),
      f_moved_(model.state_count()),
      rates_(model.state_count()),
      result_(model.state_count()) {}

StateRounding::Memory StateRounding::fresh() const {
  return {std::vector<double>(x_.size(), 0.0), std::vector<double>(x_.size(), unbounded), 0, {}};
}

bool StateRounding::outgrown(const Point& at, const Tolerance& tolerance,
                             const Memory& memory) const {
  constexpr double noticeable = 2.0;
  double growth = 1.0;
  for (std::size_t j = 0; j < memory.inputs.size(); ++j) {
    if (at.u_sizes[j] > growth * memory.inputs[j]) growth = at.u_sizes[j] / memory.inputs[j];
  }
  if (growth < noticeable) return false;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const double rounding_of = growth * memory.rate[i] * std::min(at.h, memory.time[i]);
    if (rounding_of > tolerance.of(0.0, at.x_sizes[i])) return true;
  }
  return false;
}

void StateRounding::measure(const Point& at, const Tolerance& tolerance, Memory& memory) {
  memory.inputs.assign(at.u_sizes.begin(), at.u_sizes.end());
  if (!rates(at)) return;
  const auto structure = structure_at(at);
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const double allowed = tolerance.of(0.0, at.x_sizes[i]);
    memory.rate[i] = std::max(memory.rate[i], margin * rates_[i]);
    if (!(memory.rate[i] * at.h > allowed)) continue;
    if (structure) {
      follow(*structure, at.h, i, memory);
      continue;
    }
    memory.time[i] = forgetting_time(at, i);
    pass_on(at, i, memory);
  }
}

/// Where the model knows it and it is sparse, with f_x's entries: many states would otherwise be
/// moved one by one.
std::shared_ptr<const ColumnPattern> StateRounding::structure_at(const Point& at) {
  auto structure = model_.state_pattern();
  if (!structure || !structure->is_sparse()) return nullptr;
  f_x_.resize(structure->rows.size());
  return model_.state_entries(at.t, at.x, at.u, f_x_) ? structure : nullptr;
}

/// As forgetting_time and pass_on, by the derivatives by state i.
void StateRounding::follow(const ColumnPattern& structure, double h, std::size_t i,
                           Memory& memory) const {
  for (std::size_t k = structure.begin(i); k < structure.end(i); ++k)
    if (structure.row(k) == i) memory.time[i] = 1.0 / std::abs(f_x_[k]);
  const double error = memory.rate[i] * std::min(h, memory.time[i]);
  for (std::size_t k = structure.begin(i); k < structure.end(i); ++k) {
    double& rate = memory.rate[structure.row(k)];
    if (structure.row(k) != i) rate = std::max(rate, std::abs(f_x_[k]) * error);
  }
}

/// What rounding has made of state i within the macro-step moves others, as a velocity that is
/// nothing but rounding moves a place.
void StateRounding::pass_on(const Point& at, std::size_t i, Memory& memory) {
  std::copy(at.x.begin(), at.x.end(), x_.begin());
  x_[i] += memory.rate[i] * std::min(at.h, memory.time[i]);
  if (!model_.f(at.t, x_, at.u, f_moved_)) return;
  for (std::size_t j = 0; j < x_.size(); ++j) {
    if (j != i) memory.rate[j] = std::max(memory.rate[j], std::abs(f_moved_[j] - f_[j]));
  }
}

bool StateRounding::rates(const Point& at) {
  const auto move = [](std::span<const double> from, std::span<const double> sizes,
                       std::size_t sample, std::vector<double>& to) {
    for (std::size_t j = 0; j < to.size(); ++j)
      to[j] = from[j] + displacement(sample, j) * std::max(std::abs(from[j]), sizes[j]);
  };
  std::fill(rates_.begin(), rates_.end(), 0.0);
  if (!model_.f(at.t, at.x, at.u, f_)) return false;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    move(at.x, at.x_sizes, sample, x_);
    move(at.u, at.u_sizes, sample + 1, u_);
    if (!model_.f(at.t, x_, u_, f_moved_)) return false;
    for (std::size_t i = 0; i < x_.size(); ++i)
      rates_[i] = std::max(rates_[i], std::abs(f_moved_[i] - f_[i]));
  }
  return true;
}

/// 1 / |df_i / dx_i|.
double StateRounding::forgetting_time(const Point& at, std::size_t i) {
  std::copy(at.x.begin(), at.x.end(), x_.begin());
  const double size = std::max(std::abs(at.x[i]), at.x_sizes[i]);
  x_[i] += sqrt_eps * size;
  const double step = x_[i] - at.x[i];
  if (!(step > 0.0) || !model_.f(at.t, x_, at.u, f_moved_)) return unbounded;
  return step / std::abs(f_moved_[i] - f_[i]);
}

std::span<const double> StateRounding::within(double h, const Memory& memory) {
  for (std::size_t i = 0; i < x_.size(); ++i)
    result_[i] = memory.rate[i] * std::min(h, memory.time[i]);
  return result_;
}

}  // namespace concord
