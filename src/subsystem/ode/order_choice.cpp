#include "subsystem/ode/order_choice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace concord {

namespace {

/// What of the other order's cost justifies a change.
constexpr double cheaper = 0.8;

}  // namespace

double OrderChoice::conclude(const std::array<OneStepPair::Order, 2>& orders, double rtol, double h,
                             std::size_t micro_steps, double proposal) {
  const auto& [low, high] = orders;
  const double cost = static_cast<double>(micro_steps * (high_ ? high : low).evaluations);
  // Sizes for an error of rtol, where both errors are (size/T)^(p+1).
  const auto find_factor = [&, high_now = high_] {
    const double longer = std::pow(rtol, 1.0 / (high.embedded + 1) - 1.0 / (low.embedded + 1));
    return high_now ? 1.0 / longer : longer;
  };
  if (std::exchange(on_trial_, false)) {
    const bool in_vain = cost / h > left_cost_;
    rest_ = in_vain ? next_rest_ : 0;
    next_rest_ = in_vain ? std::min(2 * next_rest_, longest_rest) : shortest_rest;
    if (in_vain) {
      high_ = !high_;
      return find_factor();
    }
  }
  if (rest_ > 0) {
    --rest_;
    return 1.0;
  }
  const auto of_one_step = static_cast<double>((high_ ? low : high).evaluations);
  if (!(of_one_step < cheaper * cost)) return 1.0;
  const double factor = find_factor();
  const double expected = of_one_step * std::max(1.0, std::ceil(h / (factor * proposal)));
  if (!(expected < cheaper * cost)) return 1.0;
  high_ = !high_;
  on_trial_ = true;
  left_cost_ = cost / h;
  return factor;
}

}  // namespace concord
