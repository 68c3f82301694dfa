#include "subsystem/ode/state_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/scratch.hpp"

namespace concord {

namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon();
constexpr double sqrt_eps = 1.0 / 67108864.0;  // 2^-26
constexpr double unbounded = std::numeric_limits<double>::infinity();

/// Error tests see rounding of several stages.
constexpr double margin = 10.0;

/// Rounding may happen to vanish at one point.
constexpr std::size_t samples = 4;

/// A state forgets with df_i/dx_i and turns with the diagonal of the square of df/dx, as one that
/// swings does: in that time what disturbs it adds up.
double passing_time(double by_itself, double and_back) {
  return 1.0 / std::max(std::abs(by_itself), std::sqrt(std::abs(and_back)));
}

/// Several units in the last place, of either sign, in no order that a model might have.
double displacement(std::size_t sample, std::size_t j) {
  const auto k = static_cast<double>(1 + sample + samples * j);
  const double length = 4.0 + 2.0 * std::sin(k * k);
  return std::cos(1.7 * k * k) < 0.0 ? -length * rounding : length * rounding;
}

}  // namespace

StateRounding::Memory StateRounding::fresh() const {
  const std::size_t n = model_.state_count();
  return {std::vector<double>(n, 0.0), std::vector<double>(n, unbounded), 0, {}};
}

bool StateRounding::outgrown(const Point& at, const Tolerance& tolerance,
                             const Memory& memory) const {
  constexpr double noticeable = 2.0;
  double growth = 1.0;
  for (std::size_t j = 0; j < memory.inputs.size(); ++j) {
    if (at.u_sizes[j] > growth * memory.inputs[j]) growth = at.u_sizes[j] / memory.inputs[j];
  }
  if (growth < noticeable) return false;
  for (std::size_t i = 0; i < at.x.size(); ++i) {
    const double rounding_of = growth * memory.rate[i] * std::min(at.h, memory.time[i]);
    if (rounding_of > tolerance.of(0.0, at.x_sizes[i])) return true;
  }
  return false;
}

void StateRounding::measure(const Point& at, const Tolerance& tolerance, Memory& memory) {
  Scratch scratch;
  const std::span<double> f = scratch.numbers(at.x.size()), rate = scratch.numbers(at.x.size());
  const std::span<double> column = scratch.numbers(at.x.size());
  memory.inputs.assign(at.u_sizes.begin(), at.u_sizes.end());
  if (!rates(at, f, rate)) return;
  std::vector<double> f_x;
  const auto structure = structure_at(at, f_x);
  for (std::size_t i = 0; i < at.x.size(); ++i) {
    if (!(rate[i] * at.h > tolerance.of(0.0, at.x_sizes[i]))) continue;
    if (structure)
      follow(*structure, f_x, at.h, i, rate, memory.time[i]);
    else if (slopes_by(at, f, i, column))
      follow(at, f, i, column, rate, memory.time[i]);
  }
  for (std::size_t i = 0; i < at.x.size(); ++i) memory.rate[i] = std::max(memory.rate[i], rate[i]);
}

/// Where the model knows it and it is sparse, with f_x's entries: many states would otherwise be
/// moved one by one.
std::shared_ptr<const ColumnPattern> StateRounding::structure_at(const Point& at,
                                                                 std::vector<double>& f_x) {
  auto structure = model_.state_pattern();
  if (!structure || !structure->is_sparse()) return nullptr;
  f_x.resize(structure->rows.size());
  return model_.state_entries(at.t, at.x, at.u, f_x) ? structure : nullptr;
}

/// By the derivatives f_x. What rounding has made of state i within the macro-step moves others, as
/// a velocity that is nothing but rounding moves a place.
void StateRounding::follow(const ColumnPattern& structure, std::span<const double> f_x, double h,
                           std::size_t i, std::span<double> rate, double& time) {
  double by_itself = 0.0, and_back = 0.0;
  for (std::size_t k = structure.begin(i); k < structure.end(i); ++k) {
    const std::size_t j = structure.row(k);
    if (j == i) by_itself = f_x[k];
    const auto first = structure.rows.begin() + structure.begins[j];
    const auto last = structure.rows.begin() + structure.begins[j + 1];
    const auto found = std::lower_bound(first, last, static_cast<std::int64_t>(i));
    if (found == last || *found != static_cast<std::int64_t>(i)) continue;
    and_back += f_x[k] * f_x[static_cast<std::size_t>(found - structure.rows.begin())];
  }
  time = passing_time(by_itself, and_back);
  const double error = rate[i] * std::min(h, time);
  for (std::size_t k = structure.begin(i); k < structure.end(i); ++k)
    if (structure.row(k) != i) {
      double& other = rate[structure.row(k)];
      other = std::max(other, std::abs(f_x[k]) * error);
    }
}

/// The same by df/dx_i and a difference along it.
void StateRounding::follow(const Point& at, std::span<const double> f, std::size_t i,
                           std::span<const double> column, std::span<double> rate, double& time) {
  Scratch scratch;
  const std::span<double> x = scratch.numbers(at.x.size()), moved = scratch.numbers(x.size());
  double fastest = 0.0, and_back = 0.0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double size = std::max(std::abs(at.x[j]), at.x_sizes[j]);
    if (size > 0.0) fastest = std::max(fastest, std::abs(column[j]) / size);
  }
  const double step = sqrt_eps / fastest;
  for (std::size_t j = 0; j < x.size(); ++j) x[j] = at.x[j] + step * column[j];
  if (fastest > 0.0 && model_.f(at.t, x, at.u, moved)) and_back = (moved[i] - f[i]) / step;
  time = passing_time(column[i], and_back);
  const double error = rate[i] * std::min(at.h, time);
  for (std::size_t j = 0; j < x.size(); ++j)
    if (j != i) rate[j] = std::max(rate[j], std::abs(column[j]) * error);
}

bool StateRounding::slopes_by(const Point& at, std::span<const double> f, std::size_t i,
                              std::span<double> column) {
  Scratch scratch;
  const std::span<double> x = scratch.numbers(at.x.size());
  std::copy(at.x.begin(), at.x.end(), x.begin());
  x[i] += sqrt_eps * std::max(std::abs(at.x[i]), at.x_sizes[i]);
  const double step = x[i] - at.x[i];
  if (!(step > 0.0) || !model_.f(at.t, x, at.u, column)) return false;
  for (std::size_t j = 0; j < x.size(); ++j) column[j] = (column[j] - f[j]) / step;
  return true;
}

bool StateRounding::rates(const Point& at, std::span<double> f, std::span<double> result) {
  const auto move = [](std::span<const double> from, std::span<const double> sizes,
                       std::size_t sample, std::span<double> to) {
    for (std::size_t j = 0; j < to.size(); ++j)
      to[j] = from[j] + displacement(sample, j) * std::max(std::abs(from[j]), sizes[j]);
  };
  Scratch scratch;
  const std::span<double> x = scratch.numbers(at.x.size()), u = scratch.numbers(at.u.size());
  const std::span<double> moved = scratch.numbers(x.size());
  std::fill(result.begin(), result.end(), 0.0);
  if (!model_.f(at.t, at.x, at.u, f)) return false;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    move(at.x, at.x_sizes, sample, x);
    move(at.u, at.u_sizes, sample + 1, u);
    if (!model_.f(at.t, x, u, moved)) return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      result[i] = std::max(result[i], margin * std::abs(moved[i] - f[i]));
  }
  return true;
}

void StateRounding::within(double h, const Memory& memory, std::span<double> result) {
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = memory.rate[i] * std::min(h, memory.time[i]);
}

}  // namespace concord
