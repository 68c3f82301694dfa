#include "coupling/implicit/evaluation_stages.hpp"

#include <algorithm>

#include "support/agreement.hpp"

namespace concord {

EvaluationStages::EvaluationStages(const RankNetwork& subsystems, const Groups& groups) {
  const Stages order(subsystems, groups);
  const auto& connected = subsystems.connected_inputs();
  known_.assign(connected.size(), false);
  bool estimates = false;
  for (std::size_t s = 0; s < order.count(); ++s) {
    EvaluationStage& stage = stages_.emplace_back();
    for (const std::size_t k : order.members(s)) {
      const bool rolls_back = subsystems.own(k).description().capabilities.rollback;
      (rolls_back ? stage.iterated : stage.estimated).push_back(k);
      estimates = estimates || !rolls_back;
    }
    stage.fed.assign(order.known_inputs(s).begin(), order.known_inputs(s).end());
    for (const std::size_t input : stage.fed) {
      const auto j = std::lower_bound(connected.begin(), connected.end(), input);
      stage.known.push_back(static_cast<std::size_t>(j - connected.begin()));
      known_[stage.known.back()] = true;
    }
  }
  some_estimated_ = agree_on_largest(subsystems.comm(), estimates ? 1 : 0) != 0;
}

}  // namespace concord
