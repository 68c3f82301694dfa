#pragma once

#include "coupling/points/loop_newton.hpp"
#include "coupling/points/loop_slopes.hpp"
#include "coupling/points/loop_system.hpp"

namespace concord {

/// Solves one algebraic loop at one point in time: u - P g(u) = 0 by Newton's method, and where
/// that fails from the guess, from elsewhere; then the slopes that fit each other.
class AlgebraicLoop {
 public:
  AlgebraicLoop(RankNetwork& subsystems, const FeedthroughComponent& loop);

  /// In: a first guess of the inputs. Out: inputs and outputs of the loop's subsystems that fit
  /// each other. Where Newton's method fails from the guess, zeros in it are replaced by the
  /// variables' sizes, then the loop is closed little by little (u = (1 - s) u_0 + s P g(u)). On
  /// failure `failure()` says why; the same on all ranks that take part.
  bool solve_values(PointEvaluation& point, std::span<Sample> inputs, std::span<Sample> outputs);

  /// Of the values at hand, which `solve_values` has found: the slopes, or, once these are known,
  /// the curvatures.
  bool solve_derivatives(PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
                         std::span<Sample> outputs);

  bool here() const { return system_.equations().here(); }
  const std::string& failure() const { return failure_; }
  /// `comm`: of all ranks. Collective.
  void io(Archive& archive, MPI_Comm comm);

 private:
  bool from_guess();
  bool from_elsewhere();
  bool little_by_little();
  bool attempt();
  void explain();

  LoopSystem system_;
  LoopNewton newton_;
  LoopSlopes slopes_;
  std::vector<Sample> guess_;
  bool started_ = false;
  std::string reason_;   ///< of the last attempt's failure
  std::string failure_;  ///< that of the guess which the user gave
};

}  // namespace concord
