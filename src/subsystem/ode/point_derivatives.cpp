#include "subsystem/ode/point_derivatives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace concord {

namespace {

/// Fourth-order first derivatives: sum of weights * y(offset s) / (12 s).
struct FivePoints {
  std::array<int, 4> offsets;
  std::array<double, 4> weights;  ///< the weight at 0 follows from their sum
};
constexpr FivePoints central{{-2, -1, 1, 2}, {1, -8, 8, -1}};
constexpr FivePoints backward{{-4, -3, -2, -1}, {3, -16, 36, -48}};
constexpr FivePoints forward{{1, 2, 3, 4}, {48, -36, 16, -3}};

/// Second-order first derivatives: sum of weights * y(offset s) / (2 s).
struct ThreePoints {
  std::array<int, 2> offsets;
  std::array<double, 2> weights;  ///< the weight at 0 follows from their sum
};
constexpr ThreePoints near_both{{-1, 1}, {-1, 1}};
constexpr ThreePoints near_before{{-2, -1}, {1, -4}};
constexpr ThreePoints near_after{{1, 2}, {4, -1}};

/// Jacobians cost n_st^2 and four outputs() do not, so larger subsystems use the differences.
constexpr std::size_t most_states_for_jacobian_slopes = 32;

/// States from which columns are differenced in groups.
constexpr std::size_t fewest_states_for_groups = 24;

/// Share of a variable's size by which it is moved to see whether derivatives have changed, and how
/// closely f and g then keep to them where they haven't: the derivatives' own rounding is below it.
constexpr double material_share = 1e-2;
constexpr double linear_tolerance = 1e-8;

/// s, moved so that t + s is exact: else rounding of t would spoil s where t >> s.
double exact_displacement(double t, double s) {
  const volatile double moved = t + s;
  return moved - t;
}

/// The share of h, as far as t resolves it.
double displacement(double t, double share, double h) {
  const double exact = exact_displacement(t, share * h);
  return exact > 0.0 ? exact : h;
}

double time_displacement(double t, double h) { return displacement(t, 1e-3, h); }

/// What of `s` lets the stencil at t stay in the interval; at events f and g have other sides.
template <class Stencil>
double fitting(const Stencil& stencil, double t, double s, const SmoothInterval& interval) {
  const int before = -stencil.offsets.front(), after = stencil.offsets.back();
  if (before > 0) s = std::min(s, (t - interval.from) / before);
  if (after > 0) s = std::min(s, (interval.until - t) / after);
  return exact_displacement(t, s);
}

/// Tries the stencils from the one with most room on, `use(stencil, s)`, until one works.
template <class Stencil, class Use>
bool first_that_works(const std::array<Stencil, 3>& stencils, double t, double s,
                      const SmoothInterval& interval, Use&& use) {
  std::array<double, 3> room;
  for (std::size_t i = 0; i < room.size(); ++i) room[i] = fitting(stencils[i], t, s, interval);
  for (auto most = std::max_element(room.begin(), room.end()); *most > 0.0;
       most = std::max_element(room.begin(), room.end())) {
    if (use(stencils[static_cast<std::size_t>(most - room.begin())], *most)) return true;
    *most = 0.0;
  }
  return false;
}

/// The increment of a variable of order one.
const double unit_step = std::cbrt(std::numeric_limits<double>::epsilon());

/// A variable that has never been anything but 0 counts as one of order one.
double step_for(double value, double size) {
  const double magnitude = std::max(std::abs(value), size);
  return magnitude > 0.0 ? unit_step * magnitude : unit_step;
}

/// Change of a quotient of central differences that counts as none.
constexpr double same_quotient = 1e-5;

void take_entries(const std::vector<double>& from, std::size_t columns, const RowPattern& where,
                  std::vector<double>& to) {
  to.clear();
  for (std::size_t row = 0; row < where.rows(); ++row)
    for (auto k = static_cast<std::size_t>(where.begins[row]);
         k < static_cast<std::size_t>(where.begins[row + 1]); ++k)
      to.push_back(from[row * columns + static_cast<std::size_t>(where.columns[k])]);
}

}  // namespace

PointDerivatives::PointDerivatives(CheckedModel& model, LearntDerivatives& learnt)
    : model_(model),
      learnt_(learnt),
      n_st_(model.state_count()),
      n_in_(model.input_count()),
      n_out_(model.output_count()) {
  std::span<double> rest = scratch_.numbers(3 * n_in_ + n_st_ + 2 * n_out_);
  const auto sized = [&](std::size_t n) {
    const auto result = rest.first(n);
    rest = rest.subspan(n);
    return result;
  };
  at_ = {sized(n_in_), sized(n_in_), sized(n_st_), sized(n_out_), sized(n_out_), sized(n_in_)};
}

/// For differences.
void PointDerivatives::take_room() {
  if (std::exchange(has_room_, true)) return;
  const auto sized = [&](std::size_t n) { return scratch_.numbers(n); };
  moved_ = {sized(n_st_), sized(n_in_), sized(n_out_)};
  differences_ = {sized(n_st_), sized(n_st_), sized(n_out_), sized(n_out_), sized(n_st_ + n_out_)};
}

void PointDerivatives::take_inputs(std::span<const Sample> inputs) {
  for (std::size_t i = 0; i < at_.u.size(); ++i) {
    at_.u[i] = inputs[i].value;
    at_.du[i] = inputs[i].derivative;
  }
}

bool PointDerivatives::outputs(double t, double h, std::span<const double> x,
                               std::span<const Sample> inputs, Wanted wanted,
                               std::span<Sample> outputs) {
  take_inputs(inputs);
  if (!model_.g(t, x, at_.u, at_.y)) return false;
  if (wanted == Wanted::values_and_derivatives && !output_slopes(t, h, x)) return false;
  for (std::size_t i = 0; i < at_.y.size(); ++i)
    outputs[i] = {at_.y[i], wanted == Wanted::values ? 0.0 : at_.dy[i]};
  return true;
}

/// at_.y: the outputs there.
bool PointDerivatives::output_slopes(double t, double h, std::span<const double> x) {
  if (at_.y.empty()) return true;
  if (!at_.f.empty() && !model_.f(t, x, at_.u, at_.f)) return false;
  return model_.output_slopes(t, x, at_.u, {at_.f, at_.du}, at_.dy) ||
         slopes_by_jacobians(t, h, x) || slopes_along_line(t, h, x, 1.0, 1.0);
}

bool PointDerivatives::slopes_by_jacobians(double t, double h, std::span<const double> x) {
  const std::size_t n_st = at_.f.size(), n_in = at_.u.size(), n_out = at_.y.size();
  if (n_st > most_states_for_jacobian_slopes) return false;
  const std::span<double> scratch = scratch_.numbers((n_st + n_out) * (n_st + n_in));
  const Jacobians all{scratch.subspan(0, n_st * n_st), scratch.subspan(n_st * n_st, n_st * n_in),
                      scratch.subspan(n_st * (n_st + n_in), n_out * n_st),
                      scratch.subspan(n_st * (n_st + n_in) + n_out * n_st, n_out * n_in)};
  if (!model_.jacobians(t, x, at_.u, all) || !slopes_in_time(t, h, x)) return false;
  for (std::size_t i = 0; i < n_out; ++i) {
    for (std::size_t j = 0; j < n_st; ++j) at_.dy[i] += all.g_x[i * n_st + j] * at_.f[j];
    for (std::size_t j = 0; j < n_in; ++j) at_.dy[i] += all.g_u[i * n_in + j] * at_.du[j];
  }
  return true;
}

bool PointDerivatives::output_curvatures(double t, double h, std::span<const double> x,
                                         std::span<const Sample> inputs, std::span<double> result) {
  take_inputs(inputs);
  std::ranges::transform(inputs, at_.d2u.begin(), &Sample::curvature);
  if (model_.gives_output_curvatures()) {
    return model_.output_curvatures(t, x, at_.u, {at_.du, at_.d2u}, result);
  }
  if (!at_.f.empty() && !model_.f(t, x, at_.u, at_.f)) return false;
  const auto kept = [](std::span<const double> values) {
    return std::vector<double>(values.begin(), values.end());
  };
  bent_ = {kept(x), kept(at_.u), kept(at_.du), kept(at_.f)};
  const SmoothInterval interval = model_.interval();
  const double s = displacement(t, 0.125, h);
  if (!(interval.from < interval.until)) return false;
  return first_that_works(std::array{central, backward, forward}, t, s, interval,
                          [&](const FivePoints& stencil, double fits) {
                            return curvatures_by_stencil(stencil, t, h, fits, x, result);
                          });
}

/// `bent_` holds x, u, u' and f at the point.
template <class Stencil>
bool PointDerivatives::curvatures_by_stencil(const Stencil& stencil, double t, double h, double s,
                                             std::span<const double> x, std::span<double> result) {
  constexpr double coarser = 20.0;  // than where y' itself is wanted: less rounding
  std::ranges::fill(result, 0.0);
  double weights = 0.0;
  const auto add = [&](double move, double weight) {
    for (std::size_t j = 0; j < x.size(); ++j) bent_.x[j] = x[j] + move * bent_.f[j];
    for (std::size_t j = 0; j < at_.u.size(); ++j) {
      at_.u[j] = bent_.u[j] + move * bent_.du[j];
      at_.du[j] = bent_.du[j] + move * at_.d2u[j];
    }
    if (!model_.g(t + move, bent_.x, at_.u, at_.y) ||
        !output_slopes(t + move, coarser * h, bent_.x))
      return false;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += weight * at_.dy[i];
    weights += weight;
    return true;
  };
  for (std::size_t k = 0; k < stencil.offsets.size(); ++k) {
    if (!add(stencil.offsets[k] * s, stencil.weights[k] / (12.0 * s))) return false;
  }
  return add(0.0, -weights);
}

/// at_.dy = g_t.
bool PointDerivatives::slopes_in_time(double t, double h, std::span<const double> x) {
  if (!model_.time_dependent()) {
    std::fill(at_.dy.begin(), at_.dy.end(), 0.0);
    return true;
  }
  take_room();
  return model_.time_derivatives(t, x, at_.u, {differences_.f_low, at_.dy}) ||
         slopes_along_line(t, h, x, 0.0, 0.0);
}

/// at_.dy = d/ds of g(t + s, x + s x_speed f, u + s u_speed u') at s = 0, from whichever side there
/// is room and g allows; at an event that ends the experiment there is none, and t rests.
bool PointDerivatives::slopes_along_line(double t, double h, std::span<const double> x,
                                         double x_speed, double u_speed) {
  take_room();
  const SmoothInterval interval = model_.interval();
  if (!(interval.from < interval.until))
    return slopes_by_stencil(central, t, time_displacement(t, h), x, x_speed, u_speed, 0.0);
  return first_that_works(std::array{central, backward, forward}, t, time_displacement(t, h),
                          interval, [&](const FivePoints& stencil, double s) {
                            return slopes_by_stencil(stencil, t, s, x, x_speed, u_speed, 1.0);
                          });
}

template <class Stencil>
bool PointDerivatives::slopes_by_stencil(const Stencil& stencil, double t, double s,
                                         std::span<const double> x, double x_speed, double u_speed,
                                         double t_speed) {
  std::fill(at_.dy.begin(), at_.dy.end(), 0.0);
  for (std::size_t k = 0; k < stencil.offsets.size(); ++k) {
    const double move = stencil.offsets[k] * s, weight = stencil.weights[k] / (12.0 * s);
    for (std::size_t j = 0; j < at_.f.size(); ++j) moved_.x[j] = x[j] + move * x_speed * at_.f[j];
    for (std::size_t j = 0; j < at_.u.size(); ++j)
      moved_.u[j] = at_.u[j] + move * u_speed * at_.du[j];
    if (!model_.g(t + t_speed * move, moved_.x, moved_.u, moved_.y)) return false;
    for (std::size_t i = 0; i < at_.y.size(); ++i) at_.dy[i] += weight * (moved_.y[i] - at_.y[i]);
  }
  return true;
}

bool PointDerivatives::linearize(double t, double h, std::span<const double> x,
                                 std::span<const Sample> inputs, const PointSizes& sizes,
                                 Linearization& result) {
  result.f_t.resize(at_.f.size());
  result.g_t.resize(at_.y.size());
  return evaluate(t, x, inputs, result) && derive(t, x, sizes, result) &&
         derive_by_time(t, h, x, result);
}

/// Whether there are all of f_x, f_u, g_x and g_u.
bool PointDerivatives::is_whole(const Linearization& known) const {
  return known.f_x.size() == n_st_ * n_st_ && known.f_u.size() == n_st_ * n_in_ &&
         known.g_x.size() == n_out_ * n_st_ && known.g_u.size() == n_out_ * n_in_;
}

/// f and g alone.
bool PointDerivatives::evaluate(double t, std::span<const double> x, std::span<const Sample> inputs,
                                Linearization& result) {
  take_inputs(inputs);
  result.f.resize(n_st_);
  result.g.resize(n_out_);
  return model_.f(t, x, at_.u, result.f) && model_.g(t, x, at_.u, result.g);
}

bool PointDerivatives::linearize_at(double t, std::span<const double> x,
                                    std::span<const Sample> inputs, const PointSizes& sizes,
                                    std::int64_t parameters, Linearization& result) {
  const bool same = std::exchange(result.parameters, parameters) == parameters;
  if (!evaluate(t, x, inputs, result)) return false;
  return (same && model_.constant_jacobians() && is_whole(result)) || derive(t, x, sizes, result);
}

/// f_x, f_u, g_x and g_u there.
bool PointDerivatives::derive(double t, std::span<const double> x, const PointSizes& sizes,
                              Linearization& result) {
  result.f_x.resize(n_st_ * n_st_);
  result.f_u.resize(n_st_ * n_in_);
  result.g_x.resize(n_out_ * n_st_);
  result.g_u.resize(n_out_ * n_in_);
  learnt_.has_jacobians =
      model_.jacobians(t, x, at_.u, {result.f_x, result.f_u, result.g_x, result.g_u});
  if (!learnt_.has_jacobians) {
    take_room();
    std::copy(x.begin(), x.end(), moved_.x.begin());
    std::copy(at_.u.begin(), at_.u.end(), moved_.u.begin());
    if (!difference_states(t, sizes.states, result) ||
        !difference_columns(t, moved_.u, sizes.inputs, learnt_.differences().unknown_inputs,
                            result.f_u, result.g_u, result))
      return false;
  }
  return true;
}

bool PointDerivatives::linearize(double t, double h, std::span<const double> x,
                                 std::span<const Sample> inputs, const PointSizes& sizes,
                                 const LinearPattern& pattern, Linearization& result) {
  take_inputs(inputs);
  result.f_t.resize(at_.f.size());
  result.g_t.resize(at_.y.size());
  result.f.resize(at_.f.size());
  result.g.resize(at_.y.size());
  result.f_x.resize(pattern.f_x.columns.size());
  result.f_u.resize(pattern.f_u.columns.size());
  result.g_x.resize(pattern.g_x.columns.size());
  result.g_u.resize(pattern.g_u.columns.size());
  if (!model_.f(t, x, at_.u, result.f) || !model_.g(t, x, at_.u, result.g)) return false;
  learnt_.has_jacobians =
      model_.linear_entries(t, x, at_.u, {result.f_x, result.f_u, result.g_x, result.g_u});
  if (learnt_.has_jacobians) return derive_by_time(t, h, x, result);
  Linearization whole;
  if (!linearize(t, h, x, inputs, sizes, whole)) return false;
  const std::size_t n_st = at_.f.size(), n_in = at_.u.size();
  take_entries(whole.f_x, n_st, pattern.f_x, result.f_x);
  take_entries(whole.f_u, n_in, pattern.f_u, result.f_u);
  take_entries(whole.g_x, n_st, pattern.g_x, result.g_x);
  take_entries(whole.g_u, n_in, pattern.g_u, result.g_u);
  result.f_t = std::move(whole.f_t);
  result.g_t = std::move(whole.g_t);
  learnt_.has_jacobians = true;  // what is known are entries, which only these can tell from others
  return true;
}

bool PointDerivatives::keeps(const Linearization& known, double t, double h,
                             std::span<const double> x, std::span<const Sample> inputs,
                             const PointSizes& sizes) {
  if (model_.constant_jacobians() && !model_.time_dependent()) return true;
  if (model_.constant_jacobians() || learnt_.has_jacobians) return false;
  take_inputs(inputs);
  take_room();
  return model_.f(t, x, at_.u, at_.f) && model_.g(t, x, at_.u, at_.y) &&
         keeps_beside(known, t, time_displacement(t, h), x, sizes);
}

/// Whether f and g at t + s and displaced x and u are what `known` makes of their values at
/// (t, x, u).
bool PointDerivatives::keeps_beside(const Linearization& known, double t, double s,
                                    std::span<const double> x, const PointSizes& sizes) {
  const std::size_t n_st = x.size(), n_in = at_.u.size();
  if (!is_whole(known)) return false;
  const auto displaced = [&](double value, double size, std::size_t j) {
    const double share = material_share * (1.0 + 0.5 * std::sin(static_cast<double>(j * j)));
    const double magnitude = std::max(std::abs(value), size);
    return value + share * (magnitude > 0.0 ? magnitude : 1.0);
  };
  for (std::size_t j = 0; j < n_st; ++j) moved_.x[j] = displaced(x[j], sizes.states[j], j);
  for (std::size_t j = 0; j < n_in; ++j)
    moved_.u[j] = displaced(at_.u[j], sizes.inputs[j], n_st + j);
  if (!model_.f(t + s, moved_.x, moved_.u, differences_.f_high) ||
      !model_.g(t + s, moved_.x, moved_.u, differences_.g_high))
    return false;
  const auto keeps = [&](std::span<const double> there, std::span<const double> here,
                         std::span<const double> by_x, std::span<const double> by_u,
                         std::span<const double> by_t) {
    for (std::size_t i = 0; i < there.size(); ++i) {
      double change = there[i] - here[i] - s * by_t[i];
      double size = std::abs(s * by_t[i]), rounding = std::abs(there[i]) + std::abs(here[i]);
      const auto take = [&](double slope, double from, double to) {
        change -= slope * (to - from);
        size += std::abs(slope * (to - from));
        rounding += std::abs(slope * to);
      };
      for (std::size_t j = 0; j < n_st; ++j) take(by_x[i * n_st + j], x[j], moved_.x[j]);
      for (std::size_t j = 0; j < n_in; ++j) take(by_u[i * n_in + j], at_.u[j], moved_.u[j]);
      if (!(std::abs(change) <= linear_tolerance * size + 1e-14 * rounding)) return false;
    }
    return true;
  };
  return keeps(differences_.f_high, at_.f, known.f_x, known.f_u, known.f_t) &&
         keeps(differences_.g_high, at_.y, known.g_x, known.g_u, known.g_t);
}

/// differences_.f_high, differences_.g_high = (f, g)(value + step) - (f, g)(value - step) over
/// their distance; a side where f or g fails is replaced by the point itself.
template <class Evaluate>
bool PointDerivatives::difference(double value, double step, const Linearization& at,
                                  Evaluate&& evaluate) {
  const volatile double above = value + step, below = value - step;
  double high = above, low = below;
  if (!evaluate(high, differences_.f_high, differences_.g_high)) {
    high = value;
    std::copy(at.f.begin(), at.f.end(), differences_.f_high.begin());
    std::copy(at.g.begin(), at.g.end(), differences_.g_high.begin());
  }
  if (!evaluate(low, differences_.f_low, differences_.g_low)) {
    low = value;
    std::copy(at.f.begin(), at.f.end(), differences_.f_low.begin());
    std::copy(at.g.begin(), at.g.end(), differences_.g_low.begin());
  }
  if (!(high > low)) return false;
  for (std::size_t i = 0; i < differences_.f_high.size(); ++i)
    differences_.f_high[i] = (differences_.f_high[i] - differences_.f_low[i]) / (high - low);
  for (std::size_t i = 0; i < differences_.g_high.size(); ++i)
    differences_.g_high[i] = (differences_.g_high[i] - differences_.g_low[i]) / (high - low);
  return true;
}

/// One column after the other of f_columns and g_columns, by moving the entries of `moved`.
bool PointDerivatives::difference_columns(double t, std::span<double> moved,
                                          std::span<const double> sizes,
                                          std::vector<AnsweringIncrements>& unknown,
                                          std::vector<double>& f_columns,
                                          std::vector<double>& g_columns, const Linearization& at) {
  const std::size_t n = moved.size(), n_st = differences_.f_high.size();
  for (std::size_t j = 0; j < n; ++j) {
    const double value = moved[j];
    const auto evaluate = [&](double displaced, std::span<double> f, std::span<double> g) {
      moved[j] = displaced;
      return model_.f(t, moved_.x, moved_.u, f) && model_.g(t, moved_.x, moved_.u, g);
    };
    const auto quotients = [&](double step, std::span<double> result) {
      if (!difference(value, step, at, evaluate)) return false;
      std::copy(differences_.f_high.begin(), differences_.f_high.end(), result.begin());
      std::copy(differences_.g_high.begin(), differences_.g_high.end(),
                result.begin() + static_cast<std::ptrdiff_t>(n_st));
      return true;
    };
    const double magnitude = std::max(std::abs(value), sizes[j]);
    if (!(magnitude > 0.0)) unknown.resize(n);
    const bool done = magnitude > 0.0 ? quotients(unit_step * magnitude, differences_.quotients)
                                      : unknown[j].differentiate(value, same_quotient, quotients,
                                                                 differences_.quotients);
    moved[j] = value;
    if (!done) return false;
    for (std::size_t i = 0; i < n_st; ++i) f_columns[i * n + j] = differences_.quotients[i];
    for (std::size_t i = 0; i < differences_.g_high.size(); ++i)
      g_columns[i * n + j] = differences_.quotients[n_st + i];
  }
  return true;
}

/// moved_.x and moved_.u are at the point, before and after.
bool PointDerivatives::difference_states(double t, std::span<const double> sizes,
                                         Linearization& result) {
  const std::size_t n = moved_.x.size();
  if (n < fewest_states_for_groups)
    return difference_columns(t, moved_.x, sizes, learnt_.differences().unknown_states, result.f_x,
                              result.g_x, result);
  if (learnt_.differences().groups.useful()) {
    const std::vector<double> x(moved_.x.begin(), moved_.x.end());
    const bool done = difference_groups(t, sizes, result) && pattern_holds(t, sizes, result);
    std::ranges::copy(x, moved_.x.begin());
    if (done) return true;
  }
  if (!difference_columns(t, moved_.x, sizes, learnt_.differences().unknown_states, result.f_x,
                          result.g_x, result))
    return false;
  learnt_.differences().groups.learn(result.f_x, result.g_x, n);
  return true;
}

/// f_x and g_x, one group of states at a time. False where f or g fails.
bool PointDerivatives::difference_groups(double t, std::span<const double> sizes,
                                         Linearization& result) {
  const std::size_t n = moved_.x.size();
  std::fill(result.f_x.begin(), result.f_x.end(), 0.0);
  std::fill(result.g_x.begin(), result.g_x.end(), 0.0);
  const std::vector<double> x(moved_.x.begin(), moved_.x.end());
  std::vector<double> distance(n);
  const auto evaluate = [&](std::span<double> f, std::span<double> g) {
    return model_.f(t, moved_.x, moved_.u, f) && model_.g(t, moved_.x, moved_.u, g);
  };
  for (const auto& group : learnt_.differences().groups.groups()) {
    for (const std::size_t j : group) moved_.x[j] = x[j] + step_for(x[j], sizes[j]);
    if (!evaluate(differences_.f_high, differences_.g_high)) return false;
    for (const std::size_t j : group) {
      const volatile double below = x[j] - step_for(x[j], sizes[j]);
      distance[j] = moved_.x[j] - below;
      moved_.x[j] = below;
    }
    if (!evaluate(differences_.f_low, differences_.g_low)) return false;
    for (const std::size_t j : group) {
      moved_.x[j] = x[j];
      for (const std::size_t row : learnt_.differences().groups.rows(j)) {
        if (row < n)
          result.f_x[row * n + j] =
              (differences_.f_high[row] - differences_.f_low[row]) / distance[j];
        else
          result.g_x[(row - n) * n + j] =
              (differences_.g_high[row - n] - differences_.g_low[row - n]) / distance[j];
      }
    }
  }
  return true;
}

/// Whether f_x and g_x give what f and g do in a direction with all states in it. Leaves moved_.x
/// elsewhere.
bool PointDerivatives::pattern_holds(double t, std::span<const double> sizes,
                                     const Linearization& result) {
  const std::size_t n = moved_.x.size();
  const std::vector<double> x(moved_.x.begin(), moved_.x.end());
  std::vector<double> direction(n);
  for (std::size_t j = 0; j < n; ++j)
    direction[j] = (1.0 + 0.5 * std::sin(static_cast<double>(j * j))) * step_for(x[j], sizes[j]);
  const auto move = [&](double sign) {
    for (std::size_t j = 0; j < n; ++j) moved_.x[j] = x[j] + sign * direction[j];
  };
  move(1.0);
  if (!model_.f(t, moved_.x, moved_.u, differences_.f_high) ||
      !model_.g(t, moved_.x, moved_.u, differences_.g_high))
    return false;
  move(-1.0);
  if (!model_.f(t, moved_.x, moved_.u, differences_.f_low) ||
      !model_.g(t, moved_.x, moved_.u, differences_.g_low))
    return false;
  const auto holds = [&](std::span<const double> high, std::span<const double> low,
                         std::span<const double> rows) {
    for (std::size_t i = 0; i < high.size(); ++i) {
      double change = high[i] - low[i], size = 0.0;
      for (std::size_t j = 0; j < n; ++j) {
        const double part = 2.0 * rows[i * n + j] * direction[j];
        change -= part;
        size += std::abs(part);
      }
      const double rounding = 1e-13 * (std::abs(high[i]) + std::abs(low[i]));
      if (!(std::abs(change) <= 1e-4 * size + rounding)) return false;
    }
    return true;
  };
  return holds(differences_.f_high, differences_.f_low, result.f_x) &&
         holds(differences_.g_high, differences_.g_low, result.g_x);
}

bool PointDerivatives::derive_by_time(double t, double h, std::span<const double> x,
                                      Linearization& result) {
  const SmoothInterval interval = model_.interval();
  if (!model_.time_dependent() || !(interval.from < interval.until)) {
    std::fill(result.f_t.begin(), result.f_t.end(), 0.0);
    std::fill(result.g_t.begin(), result.g_t.end(), 0.0);
    return true;
  }
  take_room();
  // A relation in t that changes its truth here has done so for the macro-step that begins.
  const double right = std::nextafter(t, std::numeric_limits<double>::infinity());
  return model_.time_derivatives(right, x, at_.u, {result.f_t, result.g_t}) ||
         first_that_works(std::array{near_both, near_before, near_after}, t,
                          time_displacement(t, h), interval,
                          [&](const ThreePoints& stencil, double s) {
                            return difference_in_time(stencil, t, s, x, result);
                          });
}

/// f_t and g_t by the stencil.
template <class Stencil>
bool PointDerivatives::difference_in_time(const Stencil& stencil, double t, double s,
                                          std::span<const double> x, Linearization& result) {
  std::fill(result.f_t.begin(), result.f_t.end(), 0.0);
  std::fill(result.g_t.begin(), result.g_t.end(), 0.0);
  for (std::size_t k = 0; k < stencil.offsets.size(); ++k) {
    const double time = t + stencil.offsets[k] * s, weight = stencil.weights[k] / (2.0 * s);
    if (!model_.f(time, x, at_.u, differences_.f_high) ||
        !model_.g(time, x, at_.u, differences_.g_high))
      return false;
    for (std::size_t i = 0; i < differences_.f_high.size(); ++i)
      result.f_t[i] += weight * (differences_.f_high[i] - result.f[i]);
    for (std::size_t i = 0; i < differences_.g_high.size(); ++i)
      result.g_t[i] += weight * (differences_.g_high[i] - result.g[i]);
  }
  return true;
}

}  // namespace concord
