#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "expression/expression_graph.hpp"

namespace concord {

/// d root / d variable, a node of the graph.
struct PartialDerivative {
  std::uint32_t variable;
  NodeId value;
};

/// Differentiates symbolically from the root down, so that a whole gradient has a small multiple of
/// the expression's own operations (Baur and Strassen 1983), by the rules of derivative_rules.hpp.
class Differentiation {
 public:
  explicit Differentiation(ExpressionGraph& graph) : graph_(graph) {}

  /// The gradient by variables in ascending order; those that it doesn't move with are left out.
  std::vector<PartialDerivative> gradient(NodeId root);

 private:
  void pass_on(NodeId node);
  void give(NodeId argument, NodeId adjoint, NodeId slope);

  ExpressionGraph& graph_;
  std::vector<NodeId> adjoints_;  ///< d root / d node; of nodes that the root doesn't reach: none
};

/// d/dt of expressions whose variables move, symbolically from the variables up. What it gives are
/// nodes of the same graph: derived again, second derivatives (Griewank and Walther 2008, chapter
/// 13, with the coefficients of Taylor series as nodes).
class TotalDerivative {
 public:
  /// `velocities`: d/dt of each variable that may occur, by its number, nodes of the graph.
  TotalDerivative(ExpressionGraph& graph, std::vector<NodeId> velocities)
      : graph_(graph), velocities_(std::move(velocities)) {}

  NodeId of(NodeId root);

 private:
  NodeId derive(NodeId node);
  NodeId known(NodeId node);

  ExpressionGraph& graph_;
  std::vector<NodeId> velocities_;
  std::vector<NodeId> derivatives_;  ///< of nodes; none where nobody has asked
};

}  // namespace concord
