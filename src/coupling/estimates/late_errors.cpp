#include "coupling/estimates/late_errors.hpp"

#include <algorithm>
#include <utility>

namespace concord {

void LateErrors::take(double late, Eigen::MatrixXd gain, Eigen::MatrixXd by_held) {
  late_ = late;
  gain_ = std::move(gain);
  by_held_ = std::move(by_held);
  for (auto* values : {&mean_, &layers_, &at_end_, &now_, &layers_now_}) values->setZero(outputs());
}

/// Before the first interval nothing was wrong.
void LateErrors::begin(double h) {
  if (!any()) return;
  const double until = std::max(late_ - h, 0.0);  // before now, s
  for (auto* values : {&mean_, &layers_, &at_end_, &now_, &layers_now_}) values->setZero();
  double ended = 0.0;  // before now, s
  for (std::size_t n = spans_.size(); n-- > 0 && ended < late_; ended += spans_[n]) {
    const double begun = ended + spans_[n];
    const auto of = [&](const std::vector<double>& kept) {
      const double* first = kept.data() + n * static_cast<std::size_t>(outputs());
      return Eigen::Map<const Eigen::VectorXd>(first, outputs());
    };
    if (begun <= until) continue;
    const double part = (std::min(begun, late_) - std::max(ended, until)) / h;
    mean_ += part * of(means_);
    layers_ += part * of(in_layers_);
    if (ended <= until) at_end_ = (1.0 - share(h)) * (of(means_) - of(in_layers_));
  }
}

void LateErrors::end(double h, const Eigen::Ref<const Eigen::VectorXd>& held) {
  if (!any()) return;
  now_ += by_held_ * held;
  spans_.push_back(h);
  means_.insert(means_.end(), now_.begin(), now_.end());
  in_layers_.insert(in_layers_.end(), layers_now_.begin(), layers_now_.end());
  double kept = 0.0;
  std::size_t first = spans_.size();
  while (first > 0 && kept < late_) kept += spans_[--first];
  spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(first));
  const auto forgotten = static_cast<std::ptrdiff_t>(first) * outputs();
  for (auto* of : {&means_, &in_layers_}) of->erase(of->begin(), of->begin() + forgotten);
}

}  // namespace concord
