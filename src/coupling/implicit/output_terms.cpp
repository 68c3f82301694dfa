#include "coupling/implicit/output_terms.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace concord {

OutputTerms::OutputTerms(RankNetwork& subsystems, const ConstraintRows& constraints,
                         const Estimators* estimators)
    : subsystems_(subsystems),
      constraints_(constraints),
      estimators_(estimators),
      terms_(subsystems.n_inputs()),
      outputs_(subsystems.n_outputs()) {}

void OutputTerms::forget() {
  std::fill(terms_.begin(), terms_.end(), Sample{});
  known_ = false;
}

/// Of outputs of subsystems that are not linearised.
void OutputTerms::add(std::span<const Sample> inputs, const SubsystemGains& gains) {
  const auto parts = static_cast<std::size_t>(gains.parts());
  for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
    if (estimators_ != nullptr && estimators_->linearizes(k)) {
      continue;
    }
    const IndexRange outputs = subsystems_.outputs_of(k);
    for (std::size_t row = 0; row < outputs.size() * parts; ++row) {
      double sum = 0.0;
      gains.for_row(k, row, [&](std::size_t column, double gain) {
        sum += std::abs(gain *
                        (inputs[gains.inputs(k)[column / parts]].*sample_parts[column % parts]));
      });
      outputs_[outputs.first + row / parts].*sample_parts[row % parts] = sum;
    }
  }
}

void OutputTerms::learn(std::span<const Sample> inputs, const SubsystemGains* differenced) {
  const bool linearized = estimators_ != nullptr && !std::exchange(known_, true);
  if (!linearized && differenced == nullptr) {
    return;
  }
  if (linearized) {
    estimators_->output_terms(inputs, outputs_);
  }
  if (differenced != nullptr) {
    add(inputs, *differenced);
  }
  subsystems_.exchange(outputs_, terms_);
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    if (constraints_.is_equation(j)) {
      terms_[connected[j]] = outputs_[constraints_.gamma(j)];
    }
  }
  for (auto& terms : terms_) {
    terms = {std::abs(terms.value), std::abs(terms.derivative), std::abs(terms.curvature)};
  }
}

}  // namespace concord
