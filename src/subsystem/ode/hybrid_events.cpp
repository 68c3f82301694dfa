#include "subsystem/ode/hybrid_events.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

namespace concord {
namespace {

/// The way over which indicators are differenced, in units of what is no time between instants.
constexpr double difference = 1e3;

/// Behind an instant, in the same units.
constexpr std::array<double, 5> points_behind{1e-4, 1e-3, 1e-2, 1e-1, 1.0};

}  // namespace

/// x_ and u_: the point that `time` seconds lead to; its t, which stays where the model can be
/// evaluated.
double HybridEvents::move(double t, std::span<const double> x, std::span<const double> u,
                          const Motion& motion, double time) {
  x_.assign(x.begin(), x.end());
  u_.assign(u.begin(), u.end());
  for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += time * motion.dxdt[i];
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] += time * motion.dudt[i];
  return std::max(t, std::min(t + time, model_.reachable().until));
}

void HybridEvents::indicators(double t, std::span<const double> x, std::span<const double> u,
                              std::span<Indicator> z) {
  model_.indicators(t, x, u, z_);
  for (std::size_t i = 0; i < z_.size(); ++i) z[i] = {above_[i] != 0 ? z_[i] : -z_[i], 0.0};
}

/// By a difference forwards.
void HybridEvents::indicator_slopes(double t, std::span<const double> x, std::span<const double> u,
                                    const Motion& motion, std::span<double> slopes) {
  const double time = difference * slack_;
  model_.indicators(t, x, u, z_);
  std::copy(z_.begin(), z_.end(), slopes.begin());
  const double ahead = move(t, x, u, motion, time);
  model_.indicators(ahead, x_, u_, z_);
  for (std::size_t i = 0; i < z_.size(); ++i)
    slopes[i] = (above_[i] != 0 ? z_[i] - slopes[i] : slopes[i] - z_[i]) / time;
}

void HybridEvents::note_signs(double t, std::span<const double> x, std::span<const double> u) {
  if (z_.empty()) return;
  model_.indicators(t, x, u, z_);
  std::transform(z_.begin(), z_.end(), above_.begin(), [](double z) { return z > 0.0 ? 1 : 0; });
}

/// The model has seen to what happens at the start while it initialised.
bool HybridEvents::settle(const EventPoint& point, std::span<const double> x,
                          std::vector<Happening>& /*what*/) {
  slack_ = point.slack;
  note_signs(point.t, x, point.u);
  return false;
}

/// What is known to come at this instant; its time, as the model knows it.
double HybridEvents::find_due(const EventPoint& point, std::span<const double> x,
                              std::vector<Happening>& what) {
  const bool due = model_.next_time_event() <= point.t + point.slack;
  if (model_.input_event(point.u)) what.push_back({0, "inputs"});
  if (due) what.push_back({0, "time event"});
  if (located_ && model_.wants_completed_steps() && std::exchange(completed_, point.t) != point.t &&
      model_.completed_step(point.t, x, point.u))
    what.push_back({0, "step event"});
  return due ? model_.next_time_event() : point.t;
}

/// Where the first of the indicators that have another sign right behind the instant has it; x_ and
/// u_ are the point. Nothing where none has.
std::optional<double> HybridEvents::find_changed_signs(const EventPoint& point,
                                                       std::span<const double> x,
                                                       std::vector<Happening>& what) {
  if (!located_ || z_.empty()) return std::nullopt;
  const auto look = [&](double time) {
    const double t = move(point.t, x, point.u, point.motion, time);
    model_.indicators(t, x_, u_, z_);
    return t;
  };
  look(point.slack);
  changed_.clear();
  for (std::size_t i = 0; i < z_.size(); ++i)
    if (has_changed(i)) changed_.push_back(i);
  if (changed_.empty()) return std::nullopt;
  double t = point.t;
  for (const double behind : points_behind) {
    t = look(behind * point.slack);
    if (std::any_of(changed_.begin(), changed_.end(), [&](auto i) { return has_changed(i); }))
      break;
  }
  for (const std::size_t i : changed_) what.push_back({0, "state event " + std::to_string(i)});
  return t;
}

/// What the event has left as it was on the way to it is where it was before that way.
void HybridEvents::return_states(std::span<double> x) const {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x_[i] != x_before_[i]) x[i] = x_[i];
}

bool HybridEvents::happen(const EventPoint& point, std::span<double> x,
                          std::vector<Happening>& what) {
  slack_ = point.slack;
  step_event_ = never;
  const std::size_t before = what.size();
  const auto tell = std::exchange(handled_, {});
  what.insert(what.end(), tell.begin(), tell.end());
  if (what.size() > before) return true;
  double t = find_due(point, x, what);
  move(point.t, x, point.u, point.motion, 0.0);
  if (what.size() == before) t = find_changed_signs(point, x, what).value_or(t);
  if (what.size() == before) return false;
  x_before_ = x_;
  model_.handle_accepted_event(t, point.t, x_, u_);
  return_states(x);
  note_signs(t, x_, u_);
  return true;
}

}  // namespace concord
