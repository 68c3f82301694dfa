#include "subsystem/ode/method_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace concord {

void MethodChoice::mark(std::int64_t evaluations, double reached) {
  mark_ = evaluations;
  marked_at_ = reached;
}

double MethodChoice::cost(std::int64_t evaluations, double reached) const {
  const double way = reached - marked_at_;
  return way > 0.0 ? static_cast<double>(evaluations - mark_) / way
                   : std::numeric_limits<double>::infinity();
}

void MethodChoice::change(std::int64_t evaluations, double reached) {
  other_ = !other_;
  mark(evaluations, reached);
}

/// The trial is over, in favour of the method of the moment or after a return from it.
void MethodChoice::stay() {
  trial_ = false;
  wait_ = next_wait_;
}

void MethodChoice::begin_macro_step(std::int64_t evaluations) {
  if (!automatic_) return;
  if (wait_ > 0) --wait_;
  mark(evaluations, 0.0);
  gave_up_at_ = -1.0;
  trial_ = false;
  if (!other_ || wait_ > 0 || last_cost_ == 0) return;
  other_ = false;
  trial_ = true;
  budget_ = static_cast<std::int64_t>(non_stiff_ratio * static_cast<double>(last_cost_));
}

bool MethodChoice::reconsider(std::int64_t evaluations, double reached) {
  if (!automatic_) return false;
  const std::int64_t spent = evaluations - mark_;
  if (trial_ && spent >= budget_) {
    const bool won = other_ && stiff_ratio * cost(evaluations, reached) < rival_cost_;
    stay();
    if (won) return false;
    next_wait_ = std::min<std::int64_t>(2 * next_wait_, longest_wait);
    change(evaluations, reached);
    return true;
  }
  if (trial_ || other_ || wait_ > 0 || spent < undoubted_cost) return false;
  rival_cost_ = cost(evaluations, reached);
  budget_ = spent;
  trial_ = true;
  change(evaluations, reached);
  return true;
}

bool MethodChoice::give_up(std::int64_t evaluations, double reached) {
  if (!automatic_ || reached == gave_up_at_) return false;
  gave_up_at_ = reached;
  stay();
  change(evaluations, reached);
  return true;
}

bool MethodChoice::end_macro_step(std::int64_t evaluations, double h) {
  if (!automatic_) return false;
  last_cost_ = evaluations - mark_;
  if (!trial_) return false;
  const bool won = !other_ || stiff_ratio * cost(evaluations, h) < rival_cost_;
  stay();
  if (won) return false;
  next_wait_ = std::min<std::int64_t>(2 * next_wait_, longest_wait);
  other_ = !other_;
  return true;
}

}  // namespace concord
