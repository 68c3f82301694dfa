#pragma once

#include <vector>

#include "subsystem/ode/right_hand_side.hpp"

namespace concord {

/// Of a subsystem whose integrator may make its macro-step a whole step of an explicit pair.
struct WholeStepTaker {
  RightHandSide* rhs;
  const std::vector<double>* x;  ///< where it stands
};

class BatchMember {
 public:
  virtual ~BatchMember() = default;

  /// Without rhs: it never takes one.
  virtual WholeStepTaker whole_step_taker() = 0;
};

}  // namespace concord
