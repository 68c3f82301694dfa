#pragma once

#include <vector>

#include "coupling/problem/stages.hpp"

namespace concord {

/// Own subsystems that run together in an evaluation of a coupling function.
struct EvaluationStage {
  std::vector<std::size_t> known;      ///< positions of connected inputs that earlier stages feed
  std::vector<std::size_t> fed;        ///< these inputs
  std::vector<std::size_t> iterated;   ///< integrated at each evaluation
  std::vector<std::size_t> estimated;  ///< without rollback: by their estimator
};

/// The stages of a schedule, with who is integrated and who is estimated in them.
class EvaluationStages {
 public:
  EvaluationStages(const RankNetwork& subsystems, const Groups& groups);

  const std::vector<EvaluationStage>& all() const { return stages_; }

  /// Per connected input: whether an earlier stage feeds it, so that it is no unknown.
  const std::vector<bool>& known() const { return known_; }

  /// Whether some subsystem, on any rank, is estimated.
  bool some_estimated() const { return some_estimated_; }

 private:
  std::vector<EvaluationStage> stages_;
  std::vector<bool> known_;
  bool some_estimated_ = false;
};

}  // namespace concord
