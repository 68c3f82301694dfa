#include <algorithm>
#include <numbers>

#include "expression/expression_graph.hpp"

namespace concord {

namespace {

using enum Operation;

bool is_step(Operation operation) {
  return (operation >= less && operation <= invert) ||
         (operation >= Operation::sign && operation <= truncate);
}

}  // namespace

/// The nodes that are no constants, from the root down: each before its arguments.
std::vector<NodeId> Differentiation::below(NodeId root) {
  std::vector<NodeId> found;
  const auto reach = [&](NodeId id) {
    if (graph_.is_constant(id) || adjoints_[id] != none) return;
    adjoints_[id] = number(0.0);
    found.push_back(id);
  };
  adjoints_.resize(graph_.size() + 1, none);
  reach(root);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const NodeId argument : graph_.arguments(found[i])) reach(argument);
  std::sort(found.begin(), found.end(), std::greater<>());
  return found;
}

std::vector<PartialDerivative> Differentiation::gradient(NodeId root) {
  std::vector<PartialDerivative> result;
  const std::vector<NodeId> nodes = below(root);
  if (!nodes.empty()) adjoints_[root] = number(1.0);
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
  adjoints_[argument] = make(add, adjoints_[argument], make(chain, adjoint, slope));
}

void Differentiation::give_branches(NodeId condition, NodeId yes, NodeId no, NodeId adjoint) {
  const NodeId zero = number(0.0), one = number(1.0);
  give(yes, make(select, condition, adjoint, zero), one);
  give(no, make(select, condition, zero, adjoint), one);
}

/// Adds the node's adjoint, times its own derivatives, to those of its arguments.
void Differentiation::pass_on(NodeId node) {
  const Operation operation = graph_[node].operation;
  const auto [a, b, c] = graph_[node].arguments;
  const NodeId adjoint = adjoints_[node], one = number(1.0);
  if (graph_.is_constant(adjoint, 0.0)) return;
  switch (operation) {
    case negate:
      return give(a, adjoint, number(-1.0));
    case add:
      give(a, adjoint, one);
      return give(b, adjoint, one);
    case subtract:
      give(a, adjoint, one);
      return give(b, adjoint, number(-1.0));
    case multiply:
    case chain:
      give(a, adjoint, b);
      return give(b, adjoint, a);
    case divide:
      give(a, adjoint, make(divide, one, b));
      return give(b, adjoint, make(negate, make(divide, node, b)));
    case select:
      return give_branches(a, b, c, adjoint);
    case minimum:
      return give_branches(make(less, b, a), b, a, adjoint);
    case maximum:
      return give_branches(make(less, a, b), b, a, adjoint);
    case mod:
    case rem:
      give(a, adjoint, one);
      return give(b, adjoint, make(negate, whole_quotient(node)));
    default:
      if (!is_step(operation)) pass_function(node, adjoint);
  }
}

/// What mod and rem take from a as a multiple of b.
NodeId Differentiation::whole_quotient(NodeId node) {
  const auto [a, b, c] = graph_[node].arguments;
  const bool down = graph_[node].operation == mod;
  return make(down ? Operation::floor : truncate, make(divide, a, b));
}

void Differentiation::pass_function(NodeId node, NodeId adjoint) {
  const auto [a, b, c] = graph_[node].arguments;
  switch (graph_[node].operation) {
    case power:
      if (!graph_.is_constant(a))
        give(a, adjoint, make(chain, b, make(power, a, make(subtract, b, number(1.0)))));
      if (!graph_.is_constant(b)) give(b, adjoint, make(chain, node, make(Operation::log, a)));
      return;
    case Operation::hypot:
      give(a, adjoint, make(divide, a, node));
      return give(b, adjoint, make(divide, b, node));
    case Operation::atan2: {
      const NodeId radius = make(Operation::hypot, a, b);
      give(a, adjoint, make(divide, make(divide, b, radius), radius));
      return give(b, adjoint, make(negate, make(divide, make(divide, a, radius), radius)));
    }
    default:
      give(a, adjoint, slope_of_one(node));
  }
}

/// The derivative v'(a) of a function of one argument a with the value v.
NodeId Differentiation::slope_of_one(NodeId v) {
  const NodeId a = graph_[v].arguments[0], one = number(1.0);
  const auto inverse = [&](NodeId below_one) { return make(divide, one, below_one); };
  const auto below_square = [&] {  // 1 - a^2
    return make(multiply, make(subtract, one, a), make(add, one, a));
  };
  switch (graph_[v].operation) {
    case Operation::sin:
      return make(Operation::cos, a);
    case Operation::cos:
      return make(negate, make(Operation::sin, a));
    case Operation::tan:
      return make(add, one, make(multiply, v, v));
    case Operation::asin:
      return inverse(make(Operation::sqrt, below_square()));
    case Operation::acos:
      return make(negate, inverse(make(Operation::sqrt, below_square())));
    case Operation::atan:
      return inverse(make(add, one, make(multiply, a, a)));
    case Operation::sinh:
      return make(Operation::cosh, a);
    case Operation::cosh:
      return make(Operation::sinh, a);
    case Operation::tanh: {
      const NodeId wide = make(Operation::cosh, a);
      return make(divide, inverse(wide), wide);
    }
    case Operation::asinh:
      return inverse(make(Operation::hypot, a, one));
    case Operation::acosh:
      return inverse(make(multiply, make(Operation::sqrt, make(subtract, a, one)),
                          make(Operation::sqrt, make(add, a, one))));
    case Operation::atanh:
      return inverse(below_square());
    case Operation::exp:
      return v;
    case Operation::log:
      return inverse(a);
    case Operation::log10:
      return make(divide, number(std::numbers::log10e), a);
    case Operation::log2:
      return make(divide, number(std::numbers::log2e), a);
    case Operation::sqrt:
      return make(divide, number(0.5), v);
    case Operation::cbrt:
      return inverse(make(multiply, number(3.0), make(multiply, v, v)));
    default:  // abs
      return make(Operation::sign, a);
  }
}

}  // namespace concord
