#include "subsystem/ode/state_sizes.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

void StateSizes::note_rising(OdeMemory& now) const {
  now.rising.clear();
  for (std::size_t i = 0; i < now.x.size(); ++i)
    now.rising.push_back(now.x[i] == 0.0 && !now.states.is_nominal(i) ? 1 : 0);
}

void StateSizes::take(OdeMemory& now, double h, std::span<const double> u) {
  Scratch scratch;
  const std::span<double> f = scratch.numbers(now.x.size());
  const bool slopes = rests_at_zero(now) && model_.f(now.t, now.x, u, f);
  for (std::size_t i = 0; i < now.x.size(); ++i)
    now.states.see(i, {now.x[i], slopes ? f[i] : 0.0}, h);
}

/// Whether the slope of some state may count.
bool StateSizes::rests_at_zero(const OdeMemory& now) {
  for (std::size_t i = 0; i < now.x.size(); ++i)
    if (now.x[i] == 0.0 && !now.states.is_nominal(i)) return true;
  return false;
}

void StateSizes::weigh(OdeMemory& now, double h, std::span<const double> u,
                       std::span<const Polynomial> inputs, std::span<double> sizes) {
  size_states(now, h, u, inputs, sizes);
  weigh_errors(now, h, u, inputs, sizes);
}

bool StateSizes::weigh_again(OdeMemory& now, const MacroStep& step, std::span<const double> begin_u,
                             std::span<const double> x, std::span<const Polynomial> inputs,
                             std::span<double> sizes) {
  if (!turned_out_otherwise(now, step, x, inputs, sizes)) return false;
  weigh_errors(now, step.size(), begin_u, inputs, sizes);
  return true;
}

/// Inputs are as large as what their polynomials sum up.
void StateSizes::weigh_errors(OdeMemory& now, double h, std::span<const double> u,
                              std::span<const Polynomial> inputs, std::span<const double> sizes) {
  const Tolerance& tolerance = weights_.tolerance();
  Scratch scratch;
  if (tolerance.of_size) {
    const std::span<double> all_terms = scratch.numbers(u.size());
    for (std::size_t i = 0; i < all_terms.size(); ++i) {
      double terms = 0.0, power = 1.0;
      for (const double coefficient : inputs[i].c) {
        terms += std::abs(coefficient) * power;
        power *= h;
      }
      all_terms[i] = std::max(now.inputs[i], terms);
    }
    const StateRounding::Point point{now.t, h, now.x, u, sizes, all_terms};
    if (StateRounding::due(now.rounding) || rounding_.outgrown(point, tolerance, now.rounding))
      rounding_.measure(point, tolerance, now.rounding);
  }
  const std::span<double> rounding = scratch.numbers(now.x.size());
  StateRounding::within(h, now.rounding, rounding);
  weights_.take(sizes, rounding);
}

/// A state that rises from 0 gets a size where it is 0 and has a slope, or where it no longer
/// doubles within the macro-step: what spreads through a chain of states rises like t^k, and digits
/// of such tails, which no method can follow, don't matter later. Until then what inputs and time
/// make of it within the macro-step counts: they may rise as steeply as they like.
void StateSizes::size_states(OdeMemory& now, double h, std::span<const double> u,
                             std::span<const Polynomial> inputs, std::span<double> sizes) {
  Scratch scratch;
  const std::span<double> f = scratch.numbers(now.x.size());
  bool slopes = false;
  for (std::size_t i = 0; i < now.x.size(); ++i) slopes = slopes || now.rising[i] != 0;
  slopes = slopes && model_.f(now.t, now.x, u, f);
  for (std::size_t i = 0; i < now.x.size(); ++i) {
    const double magnitude = std::abs(now.x[i]);
    const bool steep = slopes && h * std::abs(f[i]) > magnitude;
    if (magnitude > 0.0 && !steep) now.rising[i] = 0;
    const bool known = now.rising[i] == 0 || magnitude == 0.0;
    sizes[i] = known ? now.states[i] : 0.0;
  }
  if (slopes) size_by_drive(now, h, f, inputs, sizes);
}

/// Of states that have no size and whose slope is rather the inputs' and time's than what there is
/// already, by f where only these have gone on; `f`: at the begin.
void StateSizes::size_by_drive(const OdeMemory& now, double h, std::span<const double> f,
                               std::span<const Polynomial> inputs, std::span<double> sizes) {
  const auto moves = [](const Polynomial& input) {
    return std::any_of(input.c.begin() + 1, input.c.end(), [](double c) { return c != 0.0; });
  };
  bool rises = false;
  for (std::size_t i = 0; i < f.size(); ++i) rises |= sizes[i] == 0.0 && now.x[i] != 0.0;
  const bool driven = rises && model_.time_dependent();
  if (!driven && std::none_of(inputs.begin(), inputs.end(), moves)) return;
  Scratch scratch;
  const std::span<double> u = scratch.numbers(inputs.size()), largest = scratch.numbers(f.size());
  const std::span<double> then = scratch.numbers(f.size());
  std::fill(largest.begin(), largest.end(), 0.0);
  for (const double share : {0.5, 1.0}) {
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = inputs[i](share * h);
    if (!model_.f(now.t + share * h, now.x, u, then)) return;
    for (std::size_t i = 0; i < f.size(); ++i)
      largest[i] = std::max(largest[i], std::abs(then[i] - f[i]));
  }
  for (std::size_t i = 0; i < f.size(); ++i)
    if (sizes[i] == 0.0 && largest[i] > std::abs(f[i])) sizes[i] = h * largest[i];
}

/// A state has left 0, not too steeply (t^4), and it had no size but perhaps what its inputs make
/// of it, or one that its slope had made it expect and that was much too large, as that of a fast
/// transient is.
bool StateSizes::turned_out_otherwise(OdeMemory& now, const MacroStep& step,
                                      std::span<const double> x, std::span<const Polynomial> inputs,
                                      std::span<double> sizes) {
  constexpr double much = 10.0, steepest = 4.5;
  const auto may_differ = [&](std::size_t i) {
    const double turned_out = std::abs(x[i]);
    if (turned_out == 0.0) return false;
    const bool by_inputs = now.rising[i] != 0 && (now.x[i] != 0.0 || now.states[i] == 0.0);
    return sizes[i] == 0.0 || by_inputs ||
           (now.states.only_expected(i) && sizes[i] > much * turned_out);
  };
  bool any = false;
  for (std::size_t i = 0; i < x.size(); ++i) any = any || may_differ(i);
  if (!any) return false;
  Scratch scratch;
  const std::span<double> u = scratch.numbers(inputs.size()), f = scratch.numbers(x.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) u[i] = inputs[i](step.size());
  if (!model_.f(step.end, x, u, f)) return false;
  bool otherwise = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double turned_out = std::abs(x[i]);
    if (!may_differ(i) || step.size() * std::abs(f[i]) > steepest * turned_out) continue;
    sizes[i] = turned_out;
    now.rising[i] = 0;
    otherwise = true;
  }
  return otherwise;
}

}  // namespace concord
