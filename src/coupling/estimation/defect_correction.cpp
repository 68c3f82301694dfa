#include "coupling/estimation/defect_correction.hpp"

#include <algorithm>
#include <utility>

namespace concord {

DefectCorrection::DefectCorrection(Defect choice, std::size_t outputs, bool exact_derivatives)
    : choice_(choice),
      exact_derivatives_(exact_derivatives),
      last_(outputs),
      before_(outputs),
      expected_(outputs) {}

Sample DefectCorrection::scaled(const Sample& defect, double ratio) const {
  if (of_curves_) {
    const double fourth = ratio * ratio * ratio * ratio;
    return {defect.value * fourth, defect.derivative * fourth, defect.curvature * fourth};
  }
  const double slope = exact_derivatives_ ? ratio * ratio : ratio;
  return {defect.value * slope * ratio, defect.derivative * slope,
          defect.curvature * slope / ratio};
}

bool DefectCorrection::expect(double h, bool curves) {
  if (of_curves_ != curves) {
    forget();
  }
  if (choice_ == Defect::none || known_ == 0) {
    std::fill(expected_.begin(), expected_.end(), Sample{});
    return false;
  }
  const bool continues = choice_ != Defect::constant && known_ >= 2;
  const double to_last = h / last_h_, to_before = continues ? h / before_h_ : 0.0;
  const double weight = continues ? (last_h_ + h) / (last_h_ + before_h_) : 0.0;
  for (std::size_t o = 0; o < expected_.size(); ++o) {
    const Sample last = scaled(last_[o], to_last);
    expected_[o] = last;
    if (continues) {
      const Sample before = scaled(before_[o], to_before);
      expected_[o].value += weight * (last.value - before.value);
      expected_[o].derivative += weight * (last.derivative - before.derivative);
      expected_[o].curvature += weight * (last.curvature - before.curvature);
    }
  }
  return true;
}

void DefectCorrection::learn(double h, bool curves, std::span<const Sample> predicted,
                             std::span<const Sample> outputs) {
  if (of_curves_ != curves) {
    known_ = 0;
  }
  of_curves_ = curves;
  std::swap(last_, before_);
  before_h_ = std::exchange(last_h_, h);
  known_ = std::min(known_ + 1, 2);
  for (std::size_t o = 0; o < last_.size(); ++o) {
    last_[o].value = outputs[o].value - predicted[o].value + expected_[o].value;
    last_[o].derivative = outputs[o].derivative - predicted[o].derivative + expected_[o].derivative;
    last_[o].curvature = outputs[o].curvature - predicted[o].curvature + expected_[o].curvature;
  }
}

}  // namespace concord
