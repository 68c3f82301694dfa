#include "subsystem/ode/right_hand_side.hpp"

#include <algorithm>
#include <cmath>

#include "subsystem/ode/answering_increments.hpp"

namespace concord {

namespace {

/// Change of a quotient of differences that Newton's method doesn't mind.
constexpr double enough_for_newton = 1e-3;

}  // namespace

std::span<const double> RightHandSide::inputs_at(double tau, Scratch& scratch) const {
  const std::span<double> u = scratch.numbers(model_.input_count());
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = inputs_[i](tau);
  return u;
}

std::span<const double> RightHandSide::input_slopes_at(double tau, Scratch& scratch) const {
  const std::span<double> slopes = scratch.numbers(inputs_.size());
  for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = inputs_[i].derivative(tau);
  return slopes;
}

int RightHandSide::evaluate(double tau, std::span<const double> x,
                            std::span<double> dxdt) noexcept {
  return guard_.run(unrecoverable, [&] {
    if (limit_reached()) {
      last_failed_ = false;
      return unrecoverable;
    }
    Scratch scratch;
    return told(tau, model_.f(time_at(tau), x, inputs_at(tau, scratch), dxdt));
  });
}

/// Whoever tries again from before a failure goes by where that was: of all that may fail.
int RightHandSide::told(double tau, bool done) {
  last_failed_ = !done;
  if (last_failed_) failed_tau_ = tau;
  return done ? ok : recoverable;
}

void RightHandSide::take_over(const WholeStep& whole, std::span<const double> x) {
  Scratch scratch;
  const std::span<double> x_last = scratch.numbers(x.size()), f = scratch.numbers(x.size());
  whole.note_use();
  whole.first_slopes(f);
  model_.take_over(step_.begin, x, inputs_at(0.0, scratch), f);
  const std::size_t known = whole.ends_twice_the_same() ? 3 : 2;
  model_.take_over(static_cast<std::int64_t>(whole.stages() - known));
  whole.last_point(x_last);
  whole.last_slopes(f);
  model_.take_over(step_.end, x_last, inputs_at(step_.size(), scratch), f);
}

int RightHandSide::state_jacobian(double tau, std::span<const double> x,
                                  std::span<const double> f_at_x, std::span<double> f_x) noexcept {
  return guard_.run(unrecoverable, [&] {
    const std::size_t n_st = x.size(), n_in = model_.input_count(), n_out = model_.output_count();
    Scratch scratch;
    const auto numbers = [&](std::size_t count) { return scratch.numbers(count); };
    const Jacobians all{numbers(n_st * n_st), numbers(n_st * n_in), numbers(n_out * n_st),
                        numbers(n_out * n_in)};
    if (!model_.jacobians(time_at(tau), x, inputs_at(tau, scratch), all))
      return told(tau, difference_jacobian(tau, x, f_at_x, f_x));
    for (std::size_t i = 0; i < n_st; ++i)
      for (std::size_t j = 0; j < n_st; ++j) f_x[j * n_st + i] = all.f_x[i * n_st + j];
    return ok;
  });
}

/// Differences are rare: where the exact entries are not finite, as of sqrt(x) at 0.
int RightHandSide::state_entries(double tau, std::span<const double> x,
                                 std::span<const double> f_at_x, const ColumnPattern& pattern,
                                 std::span<double> entries) noexcept {
  return guard_.run(unrecoverable, [&] {
    Scratch scratch;
    if (model_.state_entries(time_at(tau), x, inputs_at(tau, scratch), entries)) return ok;
    const std::span<double> column = scratch.numbers(x.size());
    bool done = true;
    for (std::size_t j = 0; j < x.size() && done; ++j) {
      done = difference_column(tau, x, f_at_x, j, column);
      for (std::size_t k = pattern.begin(j); k < pattern.end(j); ++k)
        entries[k] = column[pattern.row(k)];
    }
    return told(tau, done);
  });
}

bool RightHandSide::difference_jacobian(double tau, std::span<const double> x,
                                        std::span<const double> f_at_x, std::span<double> f_x) {
  const std::size_t n = x.size();
  for (std::size_t j = 0; j < n; ++j)
    if (!difference_column(tau, x, f_at_x, j, f_x.subspan(j * n, n))) return false;
  return true;
}

bool RightHandSide::difference_column(double tau, std::span<const double> x,
                                      std::span<const double> f_at_x, std::size_t j,
                                      std::span<double> column) {
  const double sqrt_eps = std::sqrt(std::numeric_limits<double>::epsilon());
  Scratch scratch;
  const std::span<const double> u = inputs_at(tau, scratch);
  const std::span<double> displaced = scratch.numbers(x.size());
  std::ranges::copy(x, displaced.begin());
  const auto quotients = [&](double increment, std::span<double> result) {
    displaced[j] = x[j] + std::copysign(increment, x[j]);
    const double step = displaced[j] - x[j];
    if (step == 0.0 || !model_.f(time_at(tau), displaced, u, result)) return false;
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = (result[i] - f_at_x[i]) / step;
    return true;
  };
  const double magnitude = weights_.magnitude(j, x[j]);
  return magnitude > 0.0
             ? quotients(sqrt_eps * magnitude, column)
             : AnsweringIncrements().differentiate(x[j], enough_for_newton, quotients, column);
}

}  // namespace concord
