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

/// Several units in the last place, of either sign, in no order that a model might have.
double displacement(std::size_t sample, std::size_t j) {
  const auto k = static_cast<double>(1 + sample + samples * j);
  const double length = 4.0 + 2.0 * std::sin(k * k);
  return std::cos(1.7 * k * k) < 0.0 ? -length * rounding : length * rounding;
}

/// As forgetting_time and pass_on, by the derivatives f_x by state i.
void follow(const ColumnPattern& structure, std::span<const double> f_x, double h, std::size_t i,
            StateRounding::Memory& memory) {
  for (std::size_t k = structure.begin(i); k < structure.end(i); ++k)
    if (structure.row(k) == i) memory.time[i] = 1.0 / std::abs(f_x[k]);
  const double error = memory.rate[i] * std::min(h, memory.time[i]);
  for (std::size_t k = structure.begin(i); k < structure.end(i); ++k) {
    double& rate = memory.rate[structure.row(k)];
    if (structure.row(k) != i) rate = std::max(rate, std::abs(f_x[k]) * error);
  }
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
  const std::span<double> f = scratch.numbers(at.x.size()), found = scratch.numbers(at.x.size());
  memory.inputs.assign(at.u_sizes.begin(), at.u_sizes.end());
  if (!rates(at, f, found)) return;
  std::vector<double> f_x;
  const auto structure = structure_at(at, f_x);
  for (std::size_t i = 0; i < at.x.size(); ++i) {
    const double allowed = tolerance.of(0.0, at.x_sizes[i]);
    memory.rate[i] = std::max(memory.rate[i], margin * found[i]);
    if (!(memory.rate[i] * at.h > allowed)) continue;
    if (structure) {
      follow(*structure, f_x, at.h, i, memory);
      continue;
    }
    memory.time[i] = forgetting_time(at, f, i);
    pass_on(at, f, i, memory);
  }
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

/// What rounding has made of state i within the macro-step moves others, as a velocity that is
/// nothing but rounding moves a place.
void StateRounding::pass_on(const Point& at, std::span<const double> f, std::size_t i,
                            Memory& memory) {
  Scratch scratch;
  const std::span<double> x = scratch.numbers(at.x.size()), moved = scratch.numbers(x.size());
  std::copy(at.x.begin(), at.x.end(), x.begin());
  x[i] += memory.rate[i] * std::min(at.h, memory.time[i]);
  if (!model_.f(at.t, x, at.u, moved)) return;
  for (std::size_t j = 0; j < x.size(); ++j) {
    if (j != i) memory.rate[j] = std::max(memory.rate[j], std::abs(moved[j] - f[j]));
  }
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
      result[i] = std::max(result[i], std::abs(moved[i] - f[i]));
  }
  return true;
}

/// 1 / |df_i / dx_i|.
double StateRounding::forgetting_time(const Point& at, std::span<const double> f, std::size_t i) {
  Scratch scratch;
  const std::span<double> x = scratch.numbers(at.x.size()), moved = scratch.numbers(x.size());
  std::copy(at.x.begin(), at.x.end(), x.begin());
  const double size = std::max(std::abs(at.x[i]), at.x_sizes[i]);
  x[i] += sqrt_eps * size;
  const double step = x[i] - at.x[i];
  if (!(step > 0.0) || !model_.f(at.t, x, at.u, moved)) return unbounded;
  return step / std::abs(moved[i] - f[i]);
}

void StateRounding::within(double h, const Memory& memory, std::span<double> result) {
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = memory.rate[i] * std::min(h, memory.time[i]);
}

}  // namespace concord
