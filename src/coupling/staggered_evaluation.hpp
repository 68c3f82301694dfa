#pragma once

#include <vector>

#include "coupling/point_evaluation.hpp"

namespace concord {

/// Outputs at the communication point in the staggered way (Arnold 2012): of the subsystems that a
/// constraint couples, only the last in the model file is evaluated with the new unknown; those
/// before it keep the outputs that the held unknown gave.
///
/// One step multiplies an error of the unknown by alpha = (d gamma/d y d y/d lambda of those
/// before) / (the same of the last): unstable for |alpha| >= 1, however small the macro-step.
class StaggeredEvaluation : public PointEvaluation {
 public:
  explicit StaggeredEvaluation(RankNetwork& subsystems);
  Outcome outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                  std::span<Sample> outputs) override;

 private:
  CommunicationPointEvaluation evaluation_;
  std::vector<bool> evaluated_;  ///< per own subsystem
};

}  // namespace concord
