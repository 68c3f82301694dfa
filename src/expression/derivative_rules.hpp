#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "expression/expression_graph.hpp"

namespace concord {

/// How the value of a node moves with its arguments: with each by a slope; where there is a
/// condition, as the first argument does as long as it holds and else as the second.
struct NodeSlopes {
  struct Slope {
    NodeId argument;
    NodeId slope;  ///< of a branch: 1
  };

  std::array<Slope, 2> slopes{};
  std::size_t count = 0;
  std::optional<NodeId> condition = {};

  std::span<const Slope> all() const { return std::span(slopes).first(count); }
};

/// The rules of differentiation, the only ones: slopes are nodes of the graph, so that second
/// derivatives follow from the same rules. Where an expression has kinks and jumps, the branch in
/// effect counts; relations and steps don't move.
NodeSlopes slopes_of(ExpressionGraph& graph, NodeId node);

}  // namespace concord
