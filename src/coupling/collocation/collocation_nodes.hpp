#pragma once

#include <Eigen/Core>

namespace concord {

/// Gauss: order 2k, A-stable, symplectic. Radau IIA: order 2k - 1, L-stable, the last node is the
/// end of the macro-step.
enum class NodeFamily { gauss, radau };

/// The k nodes c_i of a macro-step, as shares of it, at which a collocation method has its
/// equations, and its coefficients (Hairer, Norsett and Wanner, Solving ODEs I, II.7): with l_j the
/// polynomial of degree k - 1 that is 1 at c_j and 0 at the other nodes,
///
///     A_ij = int_0^c_i l_j(s) ds,     b_j = int_0^1 l_j(s) ds.
class CollocationNodes {
 public:
  CollocationNodes(NodeFamily family, int count);

  Eigen::Index count() const { return shares_.size(); }
  /// Of the method: errors at the end of a macro-step are O(h^{order + 1}).
  int order() const { return order_; }
  NodeFamily family() const { return family_; }

  const Eigen::VectorXd& shares() const { return shares_; }  ///< c
  /// The begin of the macro-step, and the nodes; and its end, which is a node of Radau's.
  Eigen::VectorXd with_begin() const;
  Eigen::VectorXd with_ends() const;
  const Eigen::MatrixXd& coefficients() const { return inside_; }  ///< A
  const Eigen::VectorXd& weights() const { return weights_; }      ///< b

  /// l_j(s): what values at the nodes count for at the share s, which may lie outside.
  Eigen::VectorXd at(double s) const;
  /// int_0^s l_j.
  Eigen::VectorXd up_to(double s) const;

 private:
  NodeFamily family_;
  int order_;
  Eigen::VectorXd shares_, weights_;
  Eigen::MatrixXd inside_;
};

/// l_j(s) of any points.
Eigen::VectorXd lagrange_weights(const Eigen::VectorXd& points, double s);
/// l_j'(s).
Eigen::VectorXd lagrange_slopes(const Eigen::VectorXd& points, double s);
/// int_0^1 l_j of any points.
Eigen::VectorXd mean_weights(const Eigen::VectorXd& points);

}  // namespace concord
