#pragma once

#include <vector>

#include "coupling/points/loop_system.hpp"

namespace concord {

/// Slopes of one algebraic loop, once its values are known: u' = P y'(u') is linear, with the
/// factors of the values' Jacobian; then u'' = P y''(u'') in the same way. Corrected until its rows
/// are at rounding, or until corrections with a Jacobian at this point stop shrinking, which is the
/// noise of y'.
class LoopSlopes {
 public:
  explicit LoopSlopes(LoopSystem& system) : system_(system) {}

  /// That part of the system's u, slopes or curvatures. False where they are not found.
  bool solve(double Sample::*part);

 private:
  bool at_rounding() const;
  double noise() const;
  double correct();

  LoopSystem& system_;
  double Sample::*part_ = &Sample::derivative;
  std::vector<double> right_side_, correction_;
};

}  // namespace concord
