#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coupling/point_evaluation.hpp"

namespace concord {

/// Inputs and outputs that fit each other at one point in time: u = P g(t,x,u), and u' = P y'.
///
/// Without algebraic loops outputs are evaluated in topological order of the direct feedthrough;
/// each loop is solved by a SNES of its own (options prefix `loop_`), as in Arnold 2012.
class ConsistentInputs {
 public:
  explicit ConsistentInputs(RankNetwork& subsystems);
  ~ConsistentInputs();

  /// In: inputs are the unconnected inputs and a first guess of the others. Out: consistent inputs
  /// and outputs. Collective. On failure `failure()` names the loop.
  Outcome solve(PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
                std::span<Sample> outputs);

  const std::string& failure() const { return failure_; }

 private:
  class Loop;
  struct Stage {
    std::vector<std::size_t> own;  ///< own subsystems with an output in this stage
    std::unique_ptr<Loop> loop;    ///< where the stage is an algebraic loop
  };

  Outcome in_stages(PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
                    std::span<Sample> outputs);
  Outcome evaluate(const Stage& stage, PointEvaluation& point, Wanted wanted,
                   std::span<Sample> inputs, std::span<Sample> outputs);

  RankNetwork& subsystems_;
  std::vector<Stage> stages_;
  std::string failure_;
};

}  // namespace concord
