#include "subsystem/ode/state_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace concord {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double sqrt_eps = 1.0 / 67108864.0;  // 2^-26
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Error tests see rounding of several stages.
constexpr double safety = 10.0;

/// Between 0.5 and 1.5, of either sign, in no order that a model might have.
double direction(std::size_t j) {
  const auto k = static_cast<double>(j + 1);
  const double length = 1.0 + 0.5 * std::sin(k * k);
  return std::cos(1.7 * k * k) < 0.0 ? -length : length;
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
  return {std::vector<double>(x_.size(), 0.0), std::vector<double>(x_.size(), infinite), 0};
}

void StateRounding::measure(const Point& at, const Tolerance& tolerance, Memory& memory) {
  if (!rates(at)) return;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const double allowed = tolerance.of(0.0, at.x_sizes[i]);
    memory.rate[i] = 0.0;
    if (!(safety * rates_[i] * at.h > allowed)) continue;
    memory.rate[i] = safety * rates_[i];
    memory.time[i] = forgetting_time(at, i);
  }
}

bool StateRounding::rates(const Point& at) {
  for (std::size_t j = 0; j < x_.size(); ++j)
    x_[j] = at.x[j] + sqrt_eps * direction(j) * std::max(std::abs(at.x[j]), at.x_sizes[j]);
  for (std::size_t j = 0; j < u_.size(); ++j)
    u_[j] =
        at.u[j] + sqrt_eps * direction(x_.size() + j) * std::max(std::abs(at.u[j]), at.u_sizes[j]);
  if (!model_.f(at.t, at.x, at.u, f_) || !model_.f(at.t, x_, u_, f_moved_)) return false;
  for (std::size_t i = 0; i < x_.size(); ++i)
    rates_[i] = eps / sqrt_eps * std::abs(f_moved_[i] - f_[i]);
  return true;
}

/// 1 / |df_i / dx_i|.
double StateRounding::forgetting_time(const Point& at, std::size_t i) {
  std::copy(at.x.begin(), at.x.end(), x_.begin());
  const double size = std::max(std::abs(at.x[i]), at.x_sizes[i]);
  x_[i] += sqrt_eps * size;
  const double step = x_[i] - at.x[i];
  if (!(step > 0.0) || !model_.f(at.t, x_, at.u, f_moved_)) return infinite;
  return step / std::abs(f_moved_[i] - f_[i]);
}

std::span<const double> StateRounding::within(double h, const Memory& memory) {
  for (std::size_t i = 0; i < x_.size(); ++i)
    result_[i] = memory.rate[i] * std::min(h, memory.time[i]);
  return result_;
}

}  // namespace concord
