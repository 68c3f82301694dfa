#include "network/own_batches.hpp"

#include <utility>

namespace concord {

OwnBatches::OwnBatches(OwnSubsystems& own, const RankLayout& layout)
    : batch_of_(own.count(), none) {
  std::vector<BatchCandidate> candidates;
  for (std::size_t k = 0; k < own.count(); ++k) {
    candidates.push_back({&own[k], layout.inputs_of(k).first});
  }
  for (SubsystemBatch& batch : make_advance_batches(candidates)) {
    for (const std::size_t k : batch.members) {
      batch_of_[k] = batches_.size();
    }
    batches_.push_back(std::move(batch));
  }
  begun_.resize(batches_.size(), 0);
}

void OwnBatches::begin(std::size_t batch, const MacroStep& step, std::span<const Polynomial> inputs,
                       WorkClock& clock) {
  const WorkScope timed(clock, batches_[batch].members, Work::advance);
  begun_[batch] = 1;
  batches_[batch].steps->begin(step, inputs);
}

void OwnBatches::end() {
  for (std::size_t batch = 0; batch < batches_.size(); ++batch) {
    if (std::exchange(begun_[batch], 0) != 0) {
      batches_[batch].steps->end();
    }
  }
}

}  // namespace concord
