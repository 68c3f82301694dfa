// Nodes and coefficients of collocation methods against closed forms and the conditions that they
// come from; inputs as polynomials through them.
#include "coupling/collocation/collocation_nodes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "coupling/collocation/input_curves.hpp"

namespace concord::test {
namespace collocation_nodes_test {

constexpr double rounding = 1e-14;

const std::vector<NodeFamily> families = {NodeFamily::gauss, NodeFamily::radau};

/// Hairer, Norsett and Wanner, Solving ODEs I, table II.7.3; II, table IV.5.5.
TEST(CollocationNodes, TwoNodes) {
  const CollocationNodes gauss(NodeFamily::gauss, 2), radau(NodeFamily::radau, 2);
  const double root = std::sqrt(3.0) / 6.0;
  EXPECT_TRUE(gauss.shares().isApprox(Eigen::Vector2d(0.5 - root, 0.5 + root), rounding));
  EXPECT_TRUE(gauss.coefficients().isApprox(
      Eigen::Matrix2d{{0.25, 0.25 - root}, {0.25 + root, 0.25}}, rounding));
  EXPECT_TRUE(radau.shares().isApprox(Eigen::Vector2d(1.0 / 3.0, 1.0), rounding));
  EXPECT_TRUE(radau.coefficients().isApprox(
      Eigen::Matrix2d{{5.0 / 12.0, -1.0 / 12.0}, {0.75, 0.25}}, rounding));
}

/// sum_j A_ij c_j^(q-1) = c_i^q / q for q up to k, and the same at the end up to the order.
TEST(CollocationNodes, OrderConditions) {
  for (const NodeFamily family : families) {
    for (int k = 2; k <= 7; ++k) {
      const CollocationNodes nodes(family, k);
      EXPECT_EQ(nodes.order(), family == NodeFamily::gauss ? 2 * k : 2 * k - 1);
      for (int q = 1; q <= nodes.order(); ++q) {
        const Eigen::VectorXd powers = nodes.shares().array().pow(q - 1);
        EXPECT_NEAR(nodes.weights().dot(powers), 1.0 / q, rounding) << k << ' ' << q;
        if (q > k) continue;
        const Eigen::VectorXd left =
            nodes.coefficients() * powers - nodes.shares().array().pow(q).matrix() / q;
        EXPECT_LT(left.cwiseAbs().maxCoeff(), rounding) << k << ' ' << q;
      }
      const Eigen::VectorXd beyond = nodes.shares().array().pow(nodes.order());
      EXPECT_GT(std::abs(nodes.weights().dot(beyond) - 1.0 / (nodes.order() + 1)), 0.0);
    }
  }
}

TEST(CollocationNodes, RadauEndsWithTheMacroStep) {
  const CollocationNodes nodes(NodeFamily::radau, 4);
  EXPECT_EQ(nodes.shares()[3], 1.0);
  EXPECT_TRUE(nodes.coefficients().row(3).transpose().isApprox(nodes.weights(), rounding));
}

/// Both ends always; up to six values, all of them. Coefficients of powers are hundreds of times
/// the values where nodes are near to each other, and cancel.
TEST(InputCurves, GoThroughTheirValues) {
  constexpr double h = 0.3, cancelled = 1e-12;
  for (const NodeFamily family : families) {
    for (int k = 2; k <= 6; ++k) {
      const CollocationNodes nodes(family, k);
      const InputCurves curves(nodes);
      const auto signal = [](double tau) { return std::exp(-2.0 * tau) + 0.1 * tau; };
      std::vector<double> values;
      for (const double share : nodes.with_ends()) values.push_back(signal(h * share));
      const Polynomial p = curves.polynomial(values, h);
      EXPECT_NEAR(p(0.0), signal(0.0), rounding);
      EXPECT_NEAR(p(h), signal(h), cancelled);
      const double close = curves.count() <= 6 ? cancelled : 1e-7;
      for (Eigen::Index i = 0; i < k; ++i) {
        const double at_node = h * nodes.shares()[i];
        EXPECT_NEAR(p(at_node), signal(at_node), close) << k << ' ' << i;
      }
    }
  }
}

}  // namespace collocation_nodes_test
}  // namespace concord::test
