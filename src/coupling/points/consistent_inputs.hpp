#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coupling/points/algebraic_loop.hpp"

namespace concord {

/// Inputs and outputs that fit each other at one point in time: u = P g(t,x,u), and u' = P y'.
///
/// Without algebraic loops outputs are evaluated in topological order of the direct feedthrough;
/// each loop is solved by a Newton method of its own (AlgebraicLoop), as in Arnold 2012.
class ConsistentInputs {
 public:
  explicit ConsistentInputs(RankNetwork& subsystems);
  ~ConsistentInputs();

  /// In: inputs are the unconnected inputs and a first guess of the others. Out: consistent inputs
  /// and outputs. Collective. On failure `failure()` names the loop; empty where a subsystem has
  /// failed outside of loops.
  Outcome solve(PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
                std::span<Sample> outputs);

  /// The same on every rank.
  const std::string& failure() const { return failure_; }
  /// Collective.
  void io(Archive& archive);

 private:
  struct Member {
    std::size_t subsystem;
    std::vector<std::size_t> outputs;  ///< of the stage, local indices
    bool last;                         ///< no later stage evaluates the subsystem
  };
  struct Stage {
    std::vector<Member> members;
    std::unique_ptr<AlgebraicLoop> loop;  ///< where the stage is one, instead of members
  };

  std::vector<Member> members(const std::vector<std::size_t>& outputs) const;
  bool in_stages(PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
                 std::span<Sample> outputs);
  bool evaluate(const Stage& stage, PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
                std::span<Sample> outputs);
  bool evaluate(const Member& member, PointEvaluation& point, Wanted wanted,
                std::span<const Sample> inputs, std::span<Sample> outputs);
  bool solve_loop(AlgebraicLoop& loop, PointEvaluation& point, Wanted wanted,
                  std::span<Sample> inputs, std::span<Sample> outputs);

  RankNetwork& subsystems_;
  std::vector<Stage> stages_;
  std::string failure_;
};

}  // namespace concord
