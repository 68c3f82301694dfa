#include "expression/differentiation.hpp"

#include <algorithm>
#include <limits>

#include "expression/derivative_rules.hpp"

namespace concord {

namespace {

using enum Operation;

constexpr NodeId none = std::numeric_limits<NodeId>::max();

/// The nodes from the root down that are no constants and have no mark, ascending: arguments before
/// what they are in. They get `mark`.
std::vector<NodeId> mark_below(const ExpressionGraph& graph, NodeId root, NodeId mark,
                               std::vector<NodeId>& marks) {
  std::vector<NodeId> found;
  const auto reach = [&](NodeId id) {
    if (graph.is_constant(id) || marks[id] != none) return;
    marks[id] = mark;
    found.push_back(id);
  };
  marks.resize(graph.size(), none);
  reach(root);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const NodeId argument : graph.arguments(found[i])) reach(argument);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<PartialDerivative> Differentiation::gradient(NodeId root) {
  std::vector<PartialDerivative> result;
  std::vector<NodeId> nodes = mark_below(graph_, root, graph_.constant(0.0), adjoints_);
  std::reverse(nodes.begin(), nodes.end());
  if (!nodes.empty()) adjoints_[root] = graph_.constant(1.0);
  for (const NodeId node : nodes) {
    if (graph_[node].operation != variable)
      pass_on(node);
    else if (!graph_.is_constant(adjoints_[node], 0.0))
      result.push_back({graph_[node].arguments[0], adjoints_[node]});
  }
  for (const NodeId node : nodes) adjoints_[node] = none;
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a.variable < b.variable; });
  return result;
}

void Differentiation::give(NodeId argument, NodeId adjoint, NodeId slope) {
  if (graph_.is_constant(argument)) return;
  adjoints_[argument] = graph_.make(add, adjoints_[argument], graph_.make(chain, adjoint, slope));
}

/// Adds the node's adjoint, times its own derivatives, to those of its arguments.
void Differentiation::pass_on(NodeId node) {
  const NodeId adjoint = adjoints_[node];
  if (graph_.is_constant(adjoint, 0.0)) return;
  const NodeSlopes slopes = slopes_of(graph_, node);
  if (!slopes.condition) {
    for (const auto& [argument, slope] : slopes.all()) give(argument, adjoint, slope);
    return;
  }
  const auto& [yes, no] = slopes.slopes;
  const NodeId zero = graph_.constant(0.0);
  give(yes.argument, graph_.make(select, *slopes.condition, adjoint, zero), yes.slope);
  give(no.argument, graph_.make(select, *slopes.condition, zero, adjoint), no.slope);
}

NodeId TotalDerivative::of(NodeId root) {
  for (const NodeId node : mark_below(graph_, root, graph_.constant(0.0), derivatives_))
    derivatives_[node] = derive(node);
  return known(root);
}

NodeId TotalDerivative::known(NodeId node) {
  return graph_.is_constant(node) ? graph_.constant(0.0) : derivatives_[node];
}

/// Of a node whose arguments' derivatives are known.
NodeId TotalDerivative::derive(NodeId node) {
  if (graph_[node].operation == variable) return velocities_[graph_[node].arguments[0]];
  const NodeSlopes slopes = slopes_of(graph_, node);
  const auto& [first, second] = slopes.slopes;
  if (slopes.condition)
    return graph_.make(select, *slopes.condition, known(first.argument), known(second.argument));
  NodeId sum = graph_.constant(0.0);
  for (const auto& [argument, slope] : slopes.all())
    sum = graph_.make(add, sum, graph_.make(chain, known(argument), slope));
  return sum;
}

}  // namespace concord
