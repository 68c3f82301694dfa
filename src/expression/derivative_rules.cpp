#include "expression/derivative_rules.hpp"

#include <numbers>

namespace concord {

namespace {

using enum Operation;

NodeSlopes with(NodeId argument, NodeId slope) { return {{{{argument, slope}, {}}}, 1}; }

NodeSlopes with_both(NodeId a, NodeId slope_a, NodeId b, NodeId slope_b) {
  return {{{{a, slope_a}, {b, slope_b}}}, 2};
}

/// The rules, function by function; v is the node that moves.
class Rules {
 public:
  explicit Rules(ExpressionGraph& graph) : graph_(graph) {}

  NodeSlopes of(NodeId v);

 private:
  NodeSlopes branches(NodeId condition, NodeId yes, NodeId no);
  NodeSlopes power_slopes(NodeId v);
  NodeSlopes of_two(NodeId v);
  NodeId of_one(NodeId v);
  NodeId whole_quotient(NodeId v);

  NodeId make(Operation operation, NodeId a, NodeId b = 0, NodeId c = 0) {
    return graph_.make(operation, a, b, c);
  }
  NodeId number(double value) { return graph_.constant(value); }

  ExpressionGraph& graph_;
};

bool is_step(Operation operation) {
  return (operation >= less && operation <= invert) ||
         (operation >= Operation::sign && operation <= truncate);
}

NodeSlopes Rules::branches(NodeId condition, NodeId yes, NodeId no) {
  const NodeId one = number(1.0);
  return {{{{yes, one}, {no, one}}}, 2, condition};
}

NodeSlopes Rules::of(NodeId v) {
  const Operation operation = graph_[v].operation;
  const auto [a, b, c] = graph_[v].arguments;
  const NodeId one = number(1.0);
  switch (operation) {
    case negate:
      return with(a, number(-1.0));
    case add:
      return with_both(a, one, b, one);
    case subtract:
      return with_both(a, one, b, number(-1.0));
    case multiply:
    case chain:
      return with_both(a, b, b, a);
    case divide:
      return with_both(a, make(divide, one, b), b, make(negate, make(divide, v, b)));
    case select:
      return branches(a, b, c);
    case minimum:
      return branches(make(less, b, a), b, a);
    case maximum:
      return branches(make(less, a, b), b, a);
    case mod:
    case rem:
      return with_both(a, one, b, make(negate, whole_quotient(v)));
    case power:
    case Operation::hypot:
    case Operation::atan2:
      return of_two(v);
    case table_place:
      return with(b, make(table_slope, a, b));
    case table_inside:
      return with(b, one);
    case table_at:
    case table_slope:
      return {};
    default:
      return is_step(operation) ? NodeSlopes() : with(a, of_one(v));
  }
}

/// What mod and rem take from a as a multiple of b.
NodeId Rules::whole_quotient(NodeId v) {
  const auto [a, b, c] = graph_[v].arguments;
  return make(graph_[v].operation == mod ? Operation::floor : truncate, make(divide, a, b));
}

NodeSlopes Rules::power_slopes(NodeId v) {
  const auto [a, b, c] = graph_[v].arguments;
  const auto by_base = [&, a = a, b = b] {
    return make(chain, b, make(power, a, make(subtract, b, number(1.0))));
  };
  const auto by_exponent = [&, a = a] { return make(chain, v, make(Operation::log, a)); };
  if (graph_.is_constant(b)) return with(a, by_base());
  if (graph_.is_constant(a)) return with(b, by_exponent());
  const NodeId slope = by_base();
  return with_both(a, slope, b, by_exponent());
}

NodeSlopes Rules::of_two(NodeId v) {
  const auto [a, b, c] = graph_[v].arguments;
  if (graph_[v].operation == power) return power_slopes(v);
  if (graph_[v].operation == Operation::hypot)
    return with_both(a, make(divide, a, v), b, make(divide, b, v));
  const NodeId radius = make(Operation::hypot, a, b);  // atan2
  const NodeId slope = make(divide, make(divide, b, radius), radius);
  return with_both(a, slope, b, make(negate, make(divide, make(divide, a, radius), radius)));
}

/// The derivative v'(a) of a function of one argument a with the value v.
NodeId Rules::of_one(NodeId v) {
  const NodeId a = graph_[v].arguments[0], one = number(1.0);
  const auto inverse = [&](NodeId below_one) { return make(divide, one, below_one); };
  switch (graph_[v].operation) {
    case below_square:
      return make(multiply, number(-2.0), a);
    case Operation::sin:
      return make(Operation::cos, a);
    case Operation::cos:
      return make(negate, make(Operation::sin, a));
    case Operation::tan:
      return make(add, one, make(multiply, v, v));
    case Operation::asin:
      return inverse(make(Operation::sqrt, make(below_square, a)));
    case Operation::acos:
      return make(negate, inverse(make(Operation::sqrt, make(below_square, a))));
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
      return inverse(make(below_square, a));
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

}  // namespace

NodeSlopes slopes_of(ExpressionGraph& graph, NodeId node) { return Rules(graph).of(node); }

}  // namespace concord
