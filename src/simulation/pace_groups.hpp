#pragma once

#include <Eigen/Core>
#include <vector>

#include "network/network.hpp"

namespace concord {

/// A subsystem at the start of the experiment, linearised: x' = a x + b u, y = c x + d u.
struct LinearPart {
  bool known = false;  ///< else its outputs count as constant
  Eigen::MatrixXd a, b, c, d;
};

/// What groups are looked for in, all by subsystem.
struct PaceProblem {
  std::vector<LinearPart> parts;
  std::vector<std::string> why_not;  ///< it cannot be within a group; empty: it can
  std::vector<double> effort;        ///< of a right-hand side
  double time = 1.0;                 ///< s, of the experiment
  double accuracy = 1e-4;            ///< below which what dies out is no longer followed
};

/// Groups of subsystems that are fast together.
///
/// With loops of direct feedthrough solved, the coupled system is x' = A x. Where its eigenvalues
/// leave a gap, |lambda| < theta/sqrt(r) or > theta*sqrt(r), the projector on what is fast is
///
///     P = (I + sign((A - theta I)(A + theta I)^-1))/2
///
/// (Roberts 1980, the disc |lambda| < theta mapped to a half-plane), and a subsystem k takes part
/// in it with as many states as trace(P_kk) says, in any units. Groups are what of these is joined
/// by connections, and what without states lies between members. Rates are followed as long as
/// what has them is above the accuracy. Macro-steps follow the fastest rate that is left between
/// subsystems, or a fourth of that at which a group swings that feeds others; right-hand sides of a
/// group follow its own. Of all gaps that which leaves the fewest right-hand sides is chosen.
Paces find_pace_groups(const Model& model, const Network& network, const PaceProblem& problem);

}  // namespace concord
