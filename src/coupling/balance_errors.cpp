#include "coupling/balance_errors.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

BalanceErrors::BalanceErrors(std::size_t inputs, int spread)
    : spread_(spread),
      missed_(static_cast<std::size_t>(spread), std::vector<double>(inputs, 0.0)),
      due_(inputs, 0.0),
      measured_(inputs, 0.0),
      accumulated_(inputs, 0.0),
      largest_(inputs, 0.0) {}

void BalanceErrors::begin(double h, double last_step) {
  share_ = h < last_step ? h / last_step : 1.0;
  std::fill(due_.begin(), due_.end(), 0.0);
  for (const auto& missed : missed_) {
    for (std::size_t i = 0; i < due_.size(); ++i) {
      due_[i] += share_ * missed[i] / spread_;
    }
  }
}

void BalanceErrors::measure(std::size_t input, double true_integral, double hold_integral) {
  measured_[input] = true_integral - hold_integral;
}

void BalanceErrors::commit() {
  for (std::size_t i = 0; i < due_.size(); ++i) {
    accumulated_[i] += measured_[i] - due_[i];
    largest_[i] = std::max(largest_[i], std::abs(accumulated_[i]));
  }
  if (spread_ == 0) {
    return;
  }
  auto& newest = missed_[oldest_];
  for (std::size_t i = 0; i < due_.size(); ++i) {
    newest[i] = measured_[i] + (1.0 / share_ - 1.0) * due_[i];
  }
  oldest_ = (oldest_ + 1) % missed_.size();
}

void BalanceErrors::forget() {
  for (auto& missed : missed_) {
    std::fill(missed.begin(), missed.end(), 0.0);
  }
}

}  // namespace concord
