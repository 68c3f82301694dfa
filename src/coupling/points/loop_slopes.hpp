#pragma once

#include <vector>

#include "coupling/points/loop_system.hpp"

namespace concord {

/// Slopes of one algebraic loop, once its values are known: u' = P y'(u') is linear, with the
/// factors of the values' Jacobian. Corrected until its rows are at rounding, or until corrections
/// with a Jacobian at this point stop shrinking, which is the noise of y'.
class LoopSlopes {
 public:
  explicit LoopSlopes(LoopSystem& system) : system_(system) {}

  /// Of the system's u. False where they are not found.
  bool solve();

 private:
  bool at_rounding() const;
  double noise() const;
  double correct();

  LoopSystem& system_;
  std::vector<double> right_side_, correction_;
};

}  // namespace concord
