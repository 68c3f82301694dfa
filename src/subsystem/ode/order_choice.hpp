#pragma once

#include <cstddef>

#include "subsystem/ode/one_step_pair.hpp"

namespace concord {

/// Which of two embedded pairs makes the micro-steps: that of high order where the other one needs
/// several for a macro-step. Costs are evaluations of f for accepted micro-steps; what the other
/// pair would need follows from the size that the controller proposes and the orders alone, and is
/// held against what it did need before the change.
class OrderChoice {
 public:
  bool high() const { return high_; }

  /// After a macro-step of `micro_steps`, with the controller's proposal for the next one. Returns
  /// the factor of that proposal, not 1 where the pair changes.
  double conclude(const std::array<OneStepPair::Order, 2>& orders, double rtol, double h,
                  std::size_t micro_steps, double proposal);

 private:
  /// Macro-steps without a change, after one in vain; twice as many after the next one.
  static constexpr int shortest_rest = 16, longest_rest = 4096;

  bool high_ = false;
  bool on_trial_ = false;   ///< it has not shown yet what it costs
  double left_cost_ = 0.0;  ///< of the other one when it was left, evaluations per s
  int rest_ = 0;
  int next_rest_ = shortest_rest;
};

}  // namespace concord
