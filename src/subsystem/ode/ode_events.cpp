#include "subsystem/ode/ode_events.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace concord {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Of the way to an instant: as near as it is found.
constexpr double there = 1e-6;

/// Of a macro-step: so near to its end the end says most.
constexpr double close = 0.05;

/// Seconds up to where value + slope s + bend s^2/2 is 0, near to where it would be without bend.
double until_zero(double value, double slope, double bend) {
  const double root = std::sqrt(slope * slope - 2.0 * bend * value);
  return std::isnan(root) ? -value / slope : -2.0 * value / (slope + std::copysign(root, slope));
}

}  // namespace

OdeEvents::OdeEvents(EventModel& model, CheckedModel& checked, RightHandSide& rhs)
    : model_(model),
      checked_(checked),
      rhs_(rhs),
      search_(model, checked, rhs),
      dxdt_(checked.state_count()),
      slopes_(model.indicator_count()),
      z_(model.indicator_count()),
      z_begin_(model.indicator_count()) {
  if (model.indicator_count() > 0) rhs_.watch(&search_);
}

void OdeEvents::start(double t, std::span<const double> x, std::span<const InputVariable> inputs) {
  u_.clear();
  for (const InputVariable& input : inputs) u_.push_back(input.start.value_or(0.0));
  model_.begin(t, x, u_);
}

void OdeEvents::begin(double t, std::span<const double> x) {
  if (t == begun_at_ || u_.size() != checked_.input_count()) return;
  begun_at_ = t;
  at(t, [&](double inside) { model_.indicators(inside, x, u_, z_begin_); });
}

double OdeEvents::next(double begin, double t, std::span<const double> x,
                       std::span<const Sample> inputs) {
  looked_.t = t;
  looked_.inputs.assign(inputs.begin(), inputs.end());
  looked_.until = find_next(begin, t, x, inputs);
  return looked_.until;
}

bool OdeEvents::is_quiet(double t, std::span<const Sample> inputs, double slack) const {
  const auto same = [](const Sample& a, const Sample& b) {
    return a.value == b.value && a.derivative == b.derivative;
  };
  return model_.is_told_of_changes() && looked_.t == t &&
         std::min(looked_.until, model_.next_time_event()) > t + slack &&
         std::equal(inputs.begin(), inputs.end(), looked_.inputs.begin(), looked_.inputs.end(),
                    same);
}

double OdeEvents::find_next(double begin, double t, std::span<const double> x,
                            std::span<const Sample> inputs) {
  const auto [tau, indicator, returns] = search_.ahead();
  const double near = t - close * (t - begin);
  const bool hold_jumped = tau == 0.0 && z_begin_[indicator].value > z_begin_[indicator].rounding;
  if (inputs.empty()) return begin + tau;
  if (begin + tau < near && !hold_jumped && !is_misled(indicator, t - begin, t, x, inputs))
    return begin + tau;
  // The end knows nothing of what came and went.
  const double by_end = next_by_end(begin, t, x, inputs, hold_jumped);
  return returns && !hold_jumped ? std::min(begin + tau, by_end) : by_end;
}

/// Whether the end says more of an instant than the way to it: what inputs were given there, less
/// what they are fed, makes more of the indicator than is left of it.
bool OdeEvents::is_misled(std::size_t indicator, double h, double t, std::span<const double> x,
                          std::span<const Sample> inputs) {
  bool misled = false;
  const auto look = [&](double inside) {
    model_.indicators(inside, x, u_, z_);
    const double fed = z_[indicator].value;
    Scratch scratch;
    model_.indicators(inside, x, rhs_.inputs_at(h, scratch), z_);
    misled = std::abs(z_[indicator].value - fed) > std::abs(fed);
  };
  return take(t, x, inputs) && at(t, look) && misled;
}

/// Where the macro-step has led says most about what happens close to its end, and all where the
/// hold jumped at its begin. What has no slope of its own is taken to go straight from the begin;
/// what comes soon, to bend as it does at the end, so that the macro-step up to there is the last.
double OdeEvents::next_by_end(double begin, double t, std::span<const double> x,
                              std::span<const Sample> inputs, bool hold_jumped) {
  double earliest = infinite;
  const auto look = [&](double inside) {
    model_.indicators(inside, x, u_, z_);
    model_.indicator_slopes(inside, x, u_, {dxdt_, dudt_}, slopes_);
  };
  if (!take(t, x, inputs) || !at(t, look)) return earliest;
  const double h = t - begin;
  std::optional<bool> bent;
  for (std::size_t i = 0; i < z_.size(); ++i) {
    const auto [value, rounding] = z_[i];
    const bool crossed = value < -rounding, moves = slopes_[i] != 0.0;
    const double slope =
        moves || (crossed && !hold_jumped) ? slopes_[i] : (value - z_begin_[i].value) / h;
    const bool from_above = z_begin_[i].value > z_begin_[i].rounding;
    const double left = from_above ? value : value - search_.level(i, z_[i]);
    double event = slope < 0.0 ? t - left / slope : infinite;
    const double ahead = std::abs(event - t) / h;
    if (moves && ahead > there && ahead < close) {
      if (!bent) bent = find_bends(h, t, x);
      if (*bent) event = t + until_zero(left, slope, bends_[i]);
    }
    const bool within = event >= begin && event <= t;
    earliest = std::min(earliest, crossed && !within ? last_known(i, begin, t) : event);
  }
  return earliest;
}

/// What the indicators' slopes change by in a second at the end of a macro-step of size h, where
/// inputs bend as their polynomials do: from what the model says of a point just before, after
/// `take`. False: the model fails there.
bool OdeEvents::find_bends(double h, double t, std::span<const double> x) {
  constexpr double share = 1e-3;
  const double d = share * h;
  const auto back = [d](std::span<const double> values, const std::vector<double>& by) {
    std::vector<double> result(values.begin(), values.end());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] -= d * by[i];
    return result;
  };
  std::vector<double> dudt = dudt_, dxdt(x.size());
  for (const auto& [tau, sign] : {std::pair(h - d, 1.0), std::pair(h, -1.0)}) {
    Scratch scratch;
    const std::span<const double> slopes = rhs_.input_slopes_at(tau, scratch);
    for (std::size_t i = 0; i < dudt.size(); ++i) dudt[i] += sign * slopes[i];
  }
  const std::vector<double> there_x = back(x, dxdt_), there_u = back(u_, dudt_);
  bends_.resize(slopes_.size());
  const auto look = [&](double inside) {
    model_.indicator_slopes(inside, there_x, there_u, {dxdt, dudt}, bends_);
  };
  if (!checked_.f(t - d, there_x, there_u, dxdt) || !at(t - d, look)) return false;
  std::ranges::transform(slopes_, bends_, bends_.begin(),
                         [d](double end, double before) { return (end - before) / d; });
  return true;
}

/// Of what has crossed: on the way, or by a jump at its end.
double OdeEvents::last_known(std::size_t indicator, double begin, double t) const {
  const auto& found = search_.way().found;
  return found && found->indicator == indicator && found->tau > 0.0 ? begin + found->tau : t;
}

/// The point's inputs and what its states do. False: the model fails.
bool OdeEvents::take(double t, std::span<const double> x, std::span<const Sample> inputs) {
  u_.clear();
  dudt_.clear();
  for (const Sample& input : inputs) {
    u_.push_back(input.value);
    dudt_.push_back(input.derivative);
  }
  return checked_.f(t, x, u_, dxdt_);
}

/// The outputs, with slopes, that the inputs which were taken last and what states do give. False:
/// the model cannot tell.
bool OdeEvents::look_at_outputs(double t, std::span<const double> x, std::vector<Sample>& outputs) {
  y_.resize(checked_.output_count());
  dydt_.resize(y_.size());
  if (!checked_.output_slopes(t, x, u_, {dxdt_, dudt_}, dydt_) || !checked_.g(t, x, u_, y_))
    return false;
  outputs.clear();
  for (std::size_t o = 0; o < y_.size(); ++o) outputs.push_back({y_[o], dydt_[o]});
  return true;
}

/// Whether no output is elsewhere than before a pass by more than its other slope makes of the time
/// to which instants are exact: then it has bent, and has not jumped.
bool OdeEvents::only_bends(double t, std::span<const double> x, double slack) {
  constexpr double instants_apart = 3.0, rounding = 16.0 * std::numeric_limits<double>::epsilon();
  if (!checked_.f(t, x, u_, dxdt_) || !look_at_outputs(t, x, outputs_behind_)) return false;
  return std::ranges::equal(
      outputs_before_, outputs_behind_, [&](const Sample& a, const Sample& b) {
        const double bend = std::abs(b.derivative - a.derivative);
        const double bound =
            bend > 0.0 ? instants_apart * slack * bend + rounding * std::abs(a.value) : 0.0;
        return std::abs(b.value - a.value) <= bound;
      });
}

bool OdeEvents::happen(EventPass pass, double t, double begin, std::span<double> x,
                       std::span<const Sample> inputs, double slack, EventChange& change,
                       std::vector<Happening>& what) {
  if (!take(t, x, inputs)) return false;
  EventPoint point{t, u_, {dxdt_, dudt_}, slack};
  const auto& found = search_.way().found;
  if (found && std::abs(begin + found->tau - t) <= slack) point.certain = found->indicator;
  if (errors_.t == t) point.errors = {errors_.states, errors_.inputs};
  point.fits = pass == EventPass::fit;
  const bool known = pass != EventPass::settle && look_at_outputs(t, x, outputs_before_);
  bool changed = false;
  const bool good = at(t, [&](double inside) {
    point.inside = inside;
    changed =
        pass == EventPass::settle ? model_.settle(point, x, what) : model_.happen(point, x, what);
  });
  search_.forget(slack);
  checked_.forget();
  if (changed) {
    const bool bends = known && good && only_bends(t, x, slack);
    change = bends ? EventChange::slopes : EventChange::values;
  }
  looked_.t = t;
  looked_.inputs.assign(inputs.begin(), inputs.end());
  const bool nothing = good && pass != EventPass::settle && !changed;
  looked_.until = nothing ? std::numeric_limits<double>::infinity() : never;
  return good;
}

double OdeEvents::take_errors(double begin, double t, std::span<const double> x,
                              std::span<const Sample> inputs, const Motion& errors,
                              std::span<const double> discrete) {
  errors_.t = t;
  errors_.states.assign(errors.dxdt.begin(), errors.dxdt.end());
  errors_.inputs.assign(errors.dudt.begin(), errors.dudt.end());
  model_.begin_instant();
  if (is_quiet(t, inputs, there * (t - begin))) return 0.0;
  double error = 0.0;
  const auto find = [&](double inside) { error = instant_error(inside, t - begin, x, discrete); };
  return take(t, x, inputs) && at(t, find) ? error : 0.0;
}

/// Where an indicator falls through 0 is wrong by what it is there and is wrong by, over how fast
/// it falls.
double OdeEvents::instant_error(double t, double h, std::span<const double> x,
                                std::span<const double> discrete) {
  model_.indicators(t, x, u_, z_);
  model_.indicator_slopes(t, x, u_, {dxdt_, dudt_}, slopes_);
  std::vector<std::size_t> falling;
  for (std::size_t i = 0; i < z_.size(); ++i) {
    const bool here =
        slopes_[i] < 0.0 && std::abs(z_[i].value) <= z_[i].rounding - there * h * slopes_[i];
    const bool late = !here && shown_late(i);
    if (late && slopes_[i] >= 0.0) slopes_[i] = (z_[i].value - z_begin_[i].value) / h;
    if (here || late) falling.push_back(i);
  }
  if (falling.empty()) return 0.0;
  std::vector<double> wrong(z_.size()), by_time(z_.size()), by_discrete(z_.size());
  const std::vector<double> none_x(x.size()), none_u(u_.size());
  model_.indicator_slopes(t, x, u_, {errors_.states, errors_.inputs}, wrong);
  model_.indicator_slopes(t, x, u_, {none_x, none_u}, by_time);
  model_.discrete_indicator_slopes(t, x, u_, discrete, by_discrete);
  double largest = 0.0;
  for (const std::size_t i : falling) {
    const double error = (z_[i].value - (wrong[i] - by_time[i] + by_discrete[i])) / slopes_[i];
    if (std::abs(error) > std::abs(largest)) largest = error;
  }
  return largest;
}

/// Whether what an input that is held shows at the end only has fallen through 0 on the way; where
/// it has no slope there it is taken to have gone straight.
bool OdeEvents::shown_late(std::size_t indicator) const {
  const Indicator &begin = z_begin_[indicator], &end = z_[indicator];
  return begin.value > begin.rounding && end.value < -end.rounding;
}

bool OdeEvents::pass_discrete(double t, std::span<const double> x, std::span<const Sample> inputs,
                              std::span<const double> errors, std::span<double> f,
                              std::span<double> g) {
  u_there_.clear();
  for (const Sample& input : inputs) u_there_.push_back(input.value);
  return at(t, [&](double inside) { model_.discrete_slopes(inside, x, u_there_, errors, f, g); });
}

std::vector<Graze> OdeEvents::grazes(double begin, double t, std::span<const double> x,
                                     std::span<const Sample> inputs, double noise) {
  std::vector<Graze> result;
  const auto& turns = search_.way().turns;
  if (turns.empty() || !take(t, x, inputs)) return result;
  at(t, [&](double inside) {
    for (const EventSearch::Turn& turn : turns) {
      if (!model_.is_decisive(turn.indicator, turn.beyond, inside, x, u_)) continue;
      result.push_back(graze(turn, inside, x));
      result.back().time = begin + turn.tau;
      result.back().noise *= noise;
    }
  });
  return result;
}

/// Sides of relations answer at the way's end about as they do where one has turned.
Graze OdeEvents::graze(const EventSearch::Turn& turn, double t, std::span<const double> x) {
  Graze result{model_.text_of(turn.indicator), 0.0, turn.value, 0.0, {}, {}};
  std::ranges::fill(dxdt_, 0.0);
  std::ranges::fill(dudt_, 0.0);
  const auto slope = [&] {
    model_.indicator_slopes(t, x, u_, {dxdt_, dudt_}, slopes_);
    return slopes_[turn.indicator];
  };
  const double by_time = slope();
  const auto along = [&](std::vector<double>& direction, std::span<const double> values,
                         std::vector<double>& by) {
    for (std::size_t i = 0; i < direction.size(); ++i) {
      direction[i] = 1.0;
      by.push_back(std::abs(slope() - by_time));
      result.noise += by.back() * std::abs(values[i]);
      direction[i] = 0.0;
    }
  };
  along(dxdt_, x, result.by_states);
  along(dudt_, u_, result.by_inputs);
  return result;
}

}  // namespace concord
