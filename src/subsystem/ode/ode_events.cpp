#include "subsystem/ode/ode_events.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

OdeEvents::OdeEvents(EventModel& model, CheckedModel& checked, RightHandSide& rhs)
    : model_(model),
      checked_(checked),
      rhs_(rhs),
      search_(model, checked, rhs),
      dxdt_(checked.state_count()),
      z_(model.indicator_count()) {
  rhs_.watch(&search_);
}

double OdeEvents::next(double begin, double t, std::span<const double> x,
                       std::span<const Sample> inputs) {
  const double ahead = begin + search_.ahead().tau;
  if (ahead <= t || inputs.empty()) return ahead;
  u_.clear();
  for (const Sample& input : inputs) u_.push_back(input.value);
  model_.indicators(t, x, u_, z_);
  const auto crossed = [](const Indicator& z) { return z.value < -z.rounding; };
  return std::any_of(z_.begin(), z_.end(), crossed) ? t : ahead;
}

bool OdeEvents::happen(EventPass pass, double t, double begin, std::span<double> x,
                       std::span<const Sample> inputs, double slack, bool& changed,
                       std::vector<Happening>& what) {
  u_.clear();
  dudt_.clear();
  for (const Sample& input : inputs) {
    u_.push_back(input.value);
    dudt_.push_back(input.derivative);
  }
  if (!checked_.f(t, x, u_, dxdt_)) return false;
  EventPoint point{t, u_, {dxdt_, dudt_}, slack};
  const auto& found = search_.way().found;
  if (found && std::abs(begin + found->tau - t) <= slack) point.certain = found->indicator;
  const bool good = checked_.attempt(t, [&](double) {
    changed = pass == EventPass::settle ? model_.settle(point, x) : model_.happen(point, x, what);
  });
  search_.forget();
  checked_.forget();
  return good;
}

}  // namespace concord
