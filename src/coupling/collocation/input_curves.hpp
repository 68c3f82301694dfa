#pragma once

#include <Eigen/Core>
#include <span>

#include "concord/polynomial.hpp"
#include "coupling/collocation/collocation_nodes.hpp"

namespace concord {

/// An input over a macro-step from its values at the begin, the nodes and the end.
class InputCurves {
 public:
  explicit InputCurves(const CollocationNodes& nodes);

  /// Values in that order; at Radau's nodes the last one is the end, which counts once.
  Eigen::Index count() const { return shares_.size(); }

  /// The polynomial of degree 5 at most that has both ends and, of more than four values inside,
  /// is as near to them as can be (least squares with the weights of the nodes).
  Polynomial polynomial(std::span<const double> values, double h) const;

 private:
  Eigen::VectorXd shares_;
  Eigen::MatrixXd coefficients_;  ///< by values, of powers of s
};

}  // namespace concord
