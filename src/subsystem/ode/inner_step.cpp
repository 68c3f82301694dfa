#include "subsystem/ode/inner_step.hpp"

#include <algorithm>

namespace concord {

InnerStep::InnerStep(CheckedModel& checked, RightHandSide& rhs)
    : checked_(checked),
      rhs_(rhs),
      stages_(erk_pair(rhs.weights().tolerance().relative), rhs.state_count(), 1),
      x_(rhs.state_count()),
      f_(rhs.state_count()),
      weights_(rhs.state_count()) {}

bool InnerStep::derive(double tau, std::span<const double> x, std::span<double> f) {
  bool good = false;
  rhs_.at(tau, [&](double t, std::span<const double> u) { good = checked_.f(t, x, u, f); });
  return good;
}

bool InnerStep::take(double tau, std::span<const double> x, std::span<const double> f,
                     double size) {
  const ErkPair& pair = stages_.pair();
  std::copy(f.begin(), f.end(), stages_.slopes(0).begin());
  for (std::size_t i = 1; i < pair.stages(); ++i) {
    const auto point = stages_.point(i, {&size, 1}, x);
    if (!derive(tau + pair.c(i) * size, point, stages_.slopes(i))) return false;
  }
  const auto end = stages_.end({&size, 1}, x);
  std::copy(end.begin(), end.end(), x_.begin());
  rhs_.weights().weigh(x, 1.0, weights_);
  const auto error = stages_.error({&size, 1});
  double sum = 0.0;
  for (std::size_t i = 0; i < error.size(); ++i) {
    const double weighted = error[i] * weights_[i];
    sum += weighted * weighted;
  }
  return sum <= static_cast<double>(error.size()) && derive(tau + size, x_, f_);
}

}  // namespace concord
