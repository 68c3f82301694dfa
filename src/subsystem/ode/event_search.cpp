#include "subsystem/ode/event_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace concord {
namespace {

constexpr int pieces = 4;  ///< of a micro-step

bool has_crossed(const Indicator& z) { return z.value < -z.rounding; }
bool is_above(const Indicator& z) { return z.value > z.rounding; }

}  // namespace

EventSearch::EventSearch(EventModel& model, CheckedModel& checked, RightHandSide& rhs)
    : model_(model),
      checked_(checked),
      rhs_(rhs),
      inner_(checked, rhs),
      largest_(model.indicator_count()),
      next_x_(rhs.state_count()),
      next_f_(rhs.state_count()),
      scratch_z_(model.indicator_count()),
      between_(rhs.state_count()),
      slopes_(model.indicator_count()) {
  way_.x.resize(rhs.state_count());
  way_.f.resize(rhs.state_count());
  way_.z.resize(model.indicator_count());
  way_.from_zero.resize(model.indicator_count());
  for (Point& point : points_) point.z.resize(model.indicator_count());
  dip_.z.resize(model.indicator_count());
}

bool EventSearch::derive(double tau, std::span<const double> x, std::span<double> f) {
  bool good = x.empty();
  if (!good) {
    rhs_.at(tau, [&](double t, std::span<const double> u) { good = checked_.f(t, x, u, f); });
  }
  return good;
}

bool EventSearch::evaluate(double tau, std::span<const double> x, std::span<Indicator> z) {
  return rhs_.at(tau, [&](double t, std::span<const double> u) {
    model_.indicators(t, x, u, z);
  }) == RightHandSide::ok;
}

/// Of the states between the ends of the micro-step.
void EventSearch::interpolate(double tau) {
  const double h = next_ - way_.tau, s = (tau - way_.tau) / h;
  const double r = 1.0 - s;
  for (std::size_t i = 0; i < between_.size(); ++i) {
    between_[i] = r * r * ((1.0 + 2.0 * s) * way_.x[i] + s * h * way_.f[i]) +
                  s * s * ((1.0 + 2.0 * r) * next_x_[i] - r * h * next_f_[i]);
  }
}

bool EventSearch::evaluate(Point& point, double tau) {
  point.tau = tau;
  interpolate(tau);
  return evaluate(tau, between_, point.z);
}

void EventSearch::begin(std::span<const double> x) noexcept {
  way_.found.reset();
  way_.turns.clear();
  way_.tau = 0.0;
  std::copy(x.begin(), x.end(), way_.x.begin());
  if (!derive(0.0, way_.x, way_.f) || !evaluate(0.0, way_.x, way_.z)) return;
  if (std::any_of(way_.z.begin(), way_.z.end(), has_crossed)) judge_begin();
  for (std::size_t i = 0; i < way_.z.size(); ++i) way_.from_zero[i] = is_above(way_.z[i]) ? 0 : 1;
}

/// What begins at zero, to rounding, rises by less than anybody sees before it falls: it has
/// crossed where that is certain.
double EventSearch::level(std::size_t indicator, const Indicator& z) const {
  return way_.from_zero[indicator] != 0 ? -z.rounding : 0.0;
}

/// What is less than nothing by rounding, and rises, has just happened.
void EventSearch::judge_begin() {
  if (!slope(way_.tau, way_.x, way_.f)) return;
  for (std::size_t i = 0; i < way_.z.size(); ++i) {
    if (!has_crossed(way_.z[i])) continue;
    const bool rises = -way_.z[i].value <= slopes_[i] * slack_;
    if (rises)
      way_.z[i].value = 0.0;
    else if (!way_.found)
      way_.found = {0.0, i, false};
  }
}

/// Of the indicators.
bool EventSearch::slope(double tau, std::span<const double> x, std::span<const double> f) {
  return rhs_.at(tau, [&](double t, std::span<const double> u) {
    Scratch scratch;
    model_.indicator_slopes(t, x, u, {f, rhs_.input_slopes_at(tau, scratch)}, slopes_);
  }) == RightHandSide::ok;
}

void EventSearch::reach(double tau, std::span<const double> x) noexcept {
  if (way_.found) see_return(tau, x);
  if (way_.found || tau <= way_.tau) return;
  next_ = tau;
  std::copy(x.begin(), x.end(), next_x_.begin());
  if (!derive(tau, next_x_, next_f_)) return;
  search(tau);
  if (way_.found) see_return(tau, x);
  way_.tau = tau;
  way_.x.swap(next_x_);
  way_.f.swap(next_f_);
}

void EventSearch::see_return(double tau, std::span<const double> x) {
  if (evaluate(tau, x, scratch_z_))
    way_.found->returns = !has_crossed(scratch_z_[way_.found->indicator]);
}

void EventSearch::search(double tau) {
  Point &left = points_[0], &right = points_[1];
  left.tau = way_.tau;
  std::copy(way_.z.begin(), way_.z.end(), left.z.begin());
  for (int piece = 1; piece <= pieces && !way_.found; ++piece) {
    if (!evaluate(right, piece == pieces ? tau : way_.tau + (tau - way_.tau) * piece / pieces))
      return;
    search_piece(left, right, 0);
    std::swap(left, right);
  }
  if (way_.found && !way_.x.empty()) sharpen();
  std::copy(left.z.begin(), left.z.end(), way_.z.begin());
}

void EventSearch::pass(double h) {
  begin({});
  for (int piece = 1; piece <= pieces; ++piece) reach(piece == pieces ? h : h * piece / pieces, {});
}

void EventSearch::search_piece(const Point& left, const Point& right, int halvings) {
  Point& middle = points_[static_cast<std::size_t>(2 + halvings)];
  if (!evaluate(middle, 0.5 * (left.tau + right.tau))) return;
  const bool whole = halvings == most_halvings || !may_hide(left, middle, right);
  if (whole) {
    take_crossings(left, middle);
    if (!way_.found) take_crossings(middle, right);
    note_turns(left, middle, right);
    return;
  }
  search_piece(left, middle, halvings + 1);
  if (!way_.found) search_piece(middle, right, halvings + 1);
}

/// An indicator bends by more than it is away from zero.
bool EventSearch::may_hide(const Point& left, const Point& middle, const Point& right) const {
  for (std::size_t i = 0; i < way_.z.size(); ++i) {
    const double a = left.z[i].value, m = middle.z[i].value, b = right.z[i].value;
    const double bend = std::abs(0.5 * (a + b) - m);
    if (bend > middle.z[i].rounding && std::min({std::abs(a), std::abs(m), std::abs(b)}) < bend)
      return true;
  }
  return false;
}

void EventSearch::take_crossings(const Point& left, const Point& right) {
  for (std::size_t i = 0; i < way_.z.size(); ++i) {
    if (is_above(right.z[i])) way_.from_zero[i] = 0;
    if (!has_crossed(right.z[i])) continue;
    const double za = left.z[i].value - level(i, right.z[i]);
    const double zb = right.z[i].value - level(i, right.z[i]);
    const double tau = za > 0.0 ? root(i, left.tau, za, right.tau, zb) : left.tau;
    if (!way_.found || tau < way_.found->tau) way_.found = {tau, i, false};
  }
}

/// What turns below zero between two samples has crossed it. Parabolas reach half as far again as
/// their points, so that none turns between them unseen.
void EventSearch::note_turns(const Point& left, const Point& middle, const Point& right) {
  constexpr double reach = 1.5, close = 0.1;
  const double half = 0.5 * (right.tau - left.tau);
  for (std::size_t i = 0; i < way_.z.size(); ++i) {
    const auto [value, rounding] = middle.z[i];
    largest_[i] = std::max(largest_[i], std::abs(value));
    const double slope = 0.5 * (right.z[i].value - left.z[i].value);
    const double bend = 0.5 * (right.z[i].value + left.z[i].value) - value;
    if (!(std::abs(bend) > rounding && std::abs(slope) <= 2.0 * reach * std::abs(bend))) continue;
    const double at = -0.5 * slope / bend, there = value + 0.5 * slope * at;
    const Turn turn{i, middle.tau + at * half, there, bend < 0.0};
    const bool seen = !way_.found || turn.tau < way_.found->tau;
    const bool dips = bend > 0.0 && there <= rounding && at >= -1.0 && turn.tau <= next_;
    if (seen && dips && evaluate(dip_, turn.tau)) take_crossings(left, dip_);
    if (seen && there > rounding && there <= close * largest_[i]) way_.turns.push_back(turn);
  }
}

/// Illinois' variant of the rule of false position (Dowell and Jarratt 1971).
double EventSearch::root(std::size_t i, double a, double za, double b, double zb) {
  constexpr int most_iterations = 60;
  constexpr double close = 1e-14;
  const double width = next_;
  int side = 0;  // which end was moved last
  for (int iteration = 0; iteration < most_iterations && b - a > close * width; ++iteration) {
    const double tau = std::clamp(b - zb * (b - a) / (zb - za), a, b);
    interpolate(tau);
    if (!evaluate(tau, between_, scratch_z_)) break;
    const double z = scratch_z_[i].value - level(i, scratch_z_[i]);
    if (z == 0.0) return tau;
    if (z < 0.0) {
      b = tau;
      zb = z;
      if (std::exchange(side, 1) > 0) za *= 0.5;
    } else {
      a = tau;
      za = z;
      if (std::exchange(side, -1) < 0) zb *= 0.5;
    }
    if (way_.from_zero[i] == 0 && std::abs(z) <= 1e-3 * scratch_z_[i].rounding) return tau;
  }
  return b;
}

/// Newton's method for the indicator that was found, within the micro-step. What the cubics say
/// stays where the pair is not exact enough, or leads elsewhere.
void EventSearch::sharpen() {
  constexpr int most_iterations = 4;
  constexpr double close = 1e-13;
  double& tau = way_.found->tau;
  const std::size_t i = way_.found->indicator;
  const double most = next_ - way_.tau;
  double size = tau - way_.tau;
  for (int iteration = 0; iteration < most_iterations && size > 0.0 && size <= most; ++iteration) {
    if (!inner_.take(way_.tau, way_.x, way_.f, size)) return;
    const double end = way_.tau + size;
    if (!evaluate(end, inner_.x(), scratch_z_) || !slope(end, inner_.x(), inner_.f())) return;
    const double change = (scratch_z_[i].value - level(i, scratch_z_[i])) / -slopes_[i];
    if (!(slopes_[i] < 0.0) || std::abs(change) > most) return;
    size += change;
    if (std::abs(change) <= close * next_) {
      tau = std::min(way_.tau + size, next_);
      return;
    }
  }
}

EventSearch::Found EventSearch::ahead() {
  if (way_.found) return *way_.found;
  Found result;
  const bool known = !way_.z.empty() && slope(way_.tau, way_.x, way_.f);
  for (std::size_t i = 0; known && i < way_.z.size(); ++i) {
    const double left = std::max(way_.z[i].value - level(i, way_.z[i]), 0.0);
    const double tau = way_.tau + left / -slopes_[i];
    if (slopes_[i] < 0.0 && tau < result.tau) result = {tau, i, false};
  }
  return result;
}

}  // namespace concord
