#include "subsystem/ode/answering_increments.hpp"

namespace concord {

void AnsweringIncrements::begin(std::size_t functions) {
  increments_.clear();
  chosen_.assign(functions, none);
  change_.assign(functions, 1.0);
  now_.assign(functions, 0.0);
  before_.assign(functions, 0.0);
}

void AnsweringIncrements::take(double increment, double share, std::span<double> result) {
  if (increments_.empty()) std::fill(result.begin(), result.end(), 0.0);
  increments_.push_back(increment);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double quotient = now_[i];
    const double change = std::abs(quotient - before_[i]) / std::abs(quotient);
    const bool settled = change_[i] <= share;
    const bool closer = chosen_[i] == none || change < 0.5 * change_[i];
    if (!settled && quotient != 0.0 && closer) {
      change_[i] = change;
      chosen_[i] = increments_.size() - 1;
      result[i] = quotient;
    }
    before_[i] = quotient;
  }
}

/// The last one stays where no function has answered: one of them may, some day.
void AnsweringIncrements::forget_unused() {
  std::vector<double> used;
  std::vector<std::size_t> place(increments_.size(), none);
  for (std::size_t& k : chosen_) {
    if (k == none) continue;
    if (place[k] == none) {
      place[k] = used.size();
      used.push_back(increments_[k]);
    }
    k = place[k];
  }
  if (used.empty() && !increments_.empty()) used.push_back(increments_.back());
  increments_ = std::move(used);
}

}  // namespace concord
