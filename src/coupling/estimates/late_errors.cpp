#include "coupling/estimates/late_errors.hpp"

#include <algorithm>
#include <utility>

namespace concord {

void LateErrors::take(double late, Eigen::MatrixXd gain, Eigen::MatrixXd by_held) {
  late_ = late;
  gain_ = std::move(gain);
  by_held_ = std::move(by_held);
  mean_.setZero(outputs());
  at_end_.setZero(outputs());
  now_.setZero(outputs());
}

/// Before the first interval nothing was wrong.
void LateErrors::begin(double h) {
  if (!any()) return;
  const double until = std::max(late_ - h, 0.0);  // before now, s
  mean_.setZero();
  at_end_.setZero();
  double ended = 0.0;  // before now, s
  for (std::size_t n = spans_.size(); n-- > 0 && ended < late_; ended += spans_[n]) {
    const double begun = ended + spans_[n];
    const Eigen::Map<const Eigen::VectorXd> y(
        means_.data() + n * static_cast<std::size_t>(outputs()), outputs());
    if (begun <= until) continue;
    mean_ += (std::min(begun, late_) - std::max(ended, until)) / h * y;
    if (ended <= until) at_end_ = (1.0 - share(h)) * y;
  }
  now_.setZero();
}

void LateErrors::end(double h, const Eigen::VectorXd& held) {
  if (!any()) return;
  now_ += by_held_ * held;
  spans_.push_back(h);
  means_.insert(means_.end(), now_.begin(), now_.end());
  double kept = 0.0;
  std::size_t first = spans_.size();
  while (first > 0 && kept < late_) kept += spans_[--first];
  spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(first));
  means_.erase(means_.begin(), means_.begin() + static_cast<std::ptrdiff_t>(first) * outputs());
}

}  // namespace concord
