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

void OutputTerms::learn(std::span<const Sample> inputs) {
  if (estimators_ == nullptr || std::exchange(known_, true)) {
    return;
  }
  estimators_->output_terms(inputs, outputs_);
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
