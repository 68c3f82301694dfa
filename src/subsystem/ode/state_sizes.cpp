#include "subsystem/ode/state_sizes.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

StateSizes::StateSizes(const SubsystemDescription& description, CheckedModel& model,
                       ErrorWeights& weights)
    : model_(model),
      weights_(weights),
      rounding_(model),
      nominal_(nominal_of(description.states)),
      sizes_(description.states.size()),
      states_(description.states.size()),
      inputs_(description.inputs.size()),
      slopes_(description.states.size()),
      u_(description.inputs.size()),
      terms_(description.inputs.size()) {}

void StateSizes::note_rising(OdeMemory& now) const {
  now.rising.clear();
  for (std::size_t i = 0; i < now.x.size(); ++i)
    now.rising.push_back(now.x[i] == 0.0 && !is_expected(i) ? 1 : 0);
}

void StateSizes::take(OdeMemory& now, double h) {
  now.seen = true;
  for (std::size_t i = 0; i < inputs_.size(); ++i) u_[i] = inputs_[i].value;
  now.inputs.see(inputs_, h);
  const bool slopes = rests_at_zero(now) && model_.f(now.t, now.x, u_, slopes_);
  for (std::size_t i = 0; i < now.x.size(); ++i) states_[i] = {now.x[i], slopes ? slopes_[i] : 0.0};
  now.states.see(states_, h);
}

/// Whether the slope of some state may count.
bool StateSizes::rests_at_zero(const OdeMemory& now) const {
  for (std::size_t i = 0; i < now.x.size(); ++i)
    if (now.x[i] == 0.0 && !is_expected(i)) return true;
  return false;
}

void StateSizes::weigh(OdeMemory& now, double h, std::span<const double> u,
                       std::span<const Polynomial> inputs) {
  size_states(now, h, u);
  weigh_errors(now, h, u, inputs);
}

bool StateSizes::weigh_again(OdeMemory& now, const MacroStep& step, std::span<const double> begin_u,
                             std::span<const double> x, std::span<const Polynomial> inputs) {
  if (!turned_out_otherwise(now, step, x, inputs)) return false;
  weigh_errors(now, step.size(), begin_u, inputs);
  return true;
}

/// Inputs are as large as what their polynomials sum up.
void StateSizes::weigh_errors(OdeMemory& now, double h, std::span<const double> u,
                              std::span<const Polynomial> inputs) {
  const Tolerance& tolerance = weights_.tolerance();
  if (tolerance.of_size) {
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      double terms = 0.0, power = 1.0;
      for (const double coefficient : inputs[i].c) {
        terms += std::abs(coefficient) * power;
        power *= h;
      }
      terms_[i] = std::max(now.inputs[i], terms);
    }
    const StateRounding::Point point{now.t, h, now.x, u, sizes_, terms_};
    if (StateRounding::due(now.rounding) || rounding_.outgrown(point, tolerance, now.rounding))
      rounding_.measure(point, tolerance, now.rounding);
  }
  weights_.take(sizes_, rounding_.within(h, now.rounding));
}

/// A state that rises from 0 gets a size where it is 0 and has a slope, or where it no longer
/// doubles within the macro-step: what spreads through a chain of states rises like t^k, and digits
/// of such tails, which no method can follow, don't matter later.
void StateSizes::size_states(OdeMemory& now, double h, std::span<const double> u) {
  bool slopes = false;
  for (std::size_t i = 0; i < now.x.size(); ++i) slopes = slopes || now.rising[i] != 0;
  slopes = slopes && model_.f(now.t, now.x, u, slopes_);
  for (std::size_t i = 0; i < now.x.size(); ++i) {
    const double magnitude = std::abs(now.x[i]);
    const bool steep = slopes && h * std::abs(slopes_[i]) > magnitude;
    if (magnitude > 0.0 && !steep) now.rising[i] = 0;
    const bool known = now.rising[i] == 0 || magnitude == 0.0;
    sizes_[i] = known ? now.states[i] : 0.0;
  }
}

/// A state has left 0, not too steeply (t^4), and it had no size, so that nothing watched its
/// error, or one that its slope had made it expect and that was much too large, as that of a fast
/// transient is.
bool StateSizes::turned_out_otherwise(OdeMemory& now, const MacroStep& step,
                                      std::span<const double> x,
                                      std::span<const Polynomial> inputs) {
  constexpr double much = 10.0, steepest = 4.5;
  const auto may_differ = [&](std::size_t i) {
    const double turned_out = std::abs(x[i]);
    if (turned_out == 0.0) return false;
    return sizes_[i] == 0.0 || (now.states.only_expected(i) && sizes_[i] > much * turned_out);
  };
  bool any = false;
  for (std::size_t i = 0; i < x.size(); ++i) any = any || may_differ(i);
  if (!any) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) u_[i] = inputs[i](step.size());
  if (!model_.f(step.end, x, u_, slopes_)) return false;
  bool otherwise = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double turned_out = std::abs(x[i]);
    if (!may_differ(i) || step.size() * std::abs(slopes_[i]) > steepest * turned_out) continue;
    sizes_[i] = turned_out;
    now.rising[i] = 0;
    otherwise = true;
  }
  return otherwise;
}

}  // namespace concord
