#include "expression/expression_graph.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace concord {

namespace {

bool commutes(Operation operation) {
  return operation == Operation::add || operation == Operation::multiply ||
         operation == Operation::chain;
}

}  // namespace

Operation operation_of(const ExpressionNode& node) {
  if (node.kind == ExpressionNode::Kind::call) return find_function(node.symbol)->operation;
  if (node.arguments.size() == 1) return node.symbol == "-" ? Operation::negate : Operation::invert;
  static const std::unordered_map<std::string, Operation> operations = {
      {"+", Operation::add},         {"-", Operation::subtract}, {"*", Operation::multiply},
      {"/", Operation::divide},      {"^", Operation::power},    {"<", Operation::less},
      {"<=", Operation::less_equal}, {">", Operation::greater},  {">=", Operation::greater_equal},
      {"==", Operation::equal},      {"!=", Operation::unequal}, {"&&", Operation::both},
      {"||", Operation::either},     {"?", Operation::select}};
  return operations.at(node.symbol);
}

std::vector<std::string> ExpressionNames::sorted() const {
  std::vector<std::string> result;
  for (const auto& entry : variables) result.push_back(entry.first);
  for (const auto& entry : constants) result.push_back(entry.first);
  for (const auto& entry : definitions) result.push_back(entry.first);
  std::sort(result.begin(), result.end());
  return result;
}

std::size_t ExpressionGraph::Hash::operator()(const Node& node) const {
  std::uint64_t hash = static_cast<std::uint64_t>(node.operation);
  const auto mix = [&](std::uint64_t part) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  };
  for (const NodeId argument : node.arguments) mix(argument);
  mix(std::bit_cast<std::uint64_t>(node.value));
  return hash;
}

NodeId ExpressionGraph::unique(const Node& node) {
  const auto [found, is_new] = known_.try_emplace(node, static_cast<NodeId>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return found->second;
}

NodeId ExpressionGraph::constant(double value) {
  return unique({Operation::constant, {}, value + 0.0});
}

NodeId ExpressionGraph::variable(std::uint32_t number) {
  return unique({Operation::variable, {number, 0, 0}, 0.0});
}

NodeId ExpressionGraph::make(Operation operation, NodeId a, NodeId b, NodeId c) {
  const std::array<NodeId, 3> all = {a, b, c};
  const std::span given = std::span(all).first(argument_count(operation));
  if (std::all_of(given.begin(), given.end(), [&](NodeId id) { return is_constant(id); }))
    return constant(apply(operation, nodes_[a].value, nodes_[b].value, nodes_[c].value));
  return simplified(operation, a, b, c);
}

NodeId ExpressionGraph::simplified(Operation operation, NodeId a, NodeId b, NodeId c) {
  if (commutes(operation) && a > b) std::swap(a, b);
  const auto negated = [&](NodeId id) { return nodes_[id].operation == Operation::negate; };
  const auto inner = [&](NodeId id) { return nodes_[id].arguments[0]; };
  switch (operation) {
    case Operation::negate:
      if (negated(a)) return inner(a);
      break;
    case Operation::add:
      if (is_constant(a, 0.0)) return b;
      if (is_constant(b, 0.0)) return a;
      if (negated(b)) return make(Operation::subtract, a, inner(b));
      if (negated(a)) return make(Operation::subtract, b, inner(a));
      break;
    case Operation::subtract:
      if (is_constant(b, 0.0)) return a;
      if (is_constant(a, 0.0)) return make(Operation::negate, b);
      if (negated(b)) return make(Operation::add, a, inner(b));
      break;
    case Operation::chain:
      if (is_constant(a, 0.0) || is_constant(b, 0.0)) return constant(0.0);
      if (is_constant(a) || is_constant(b)) return make(Operation::multiply, a, b);
      break;
    case Operation::multiply:
      if (is_constant(a, 1.0)) return b;
      if (is_constant(b, 1.0)) return a;
      if (is_constant(a, -1.0)) return make(Operation::negate, b);
      if (is_constant(b, -1.0)) return make(Operation::negate, a);
      break;
    case Operation::divide:
      if (is_constant(b, 1.0)) return a;
      break;
    case Operation::power:
      return power(a, b);
    case Operation::no_event:
    case Operation::homotopy:
      return a;
    case Operation::select:
      if (is_constant(a)) return nodes_[a].value != 0.0 ? b : c;
      if (b == c) return b;
      break;
    default:
      break;
  }
  return unique({operation, {a, b, c}, 0.0});
}

/// Small whole exponents are products.
NodeId ExpressionGraph::power(NodeId base, NodeId exponent) {
  const auto square = [&] { return make(Operation::multiply, base, base); };
  if (is_constant(exponent, 0.0)) return constant(1.0);
  if (is_constant(exponent, 1.0)) return base;
  if (is_constant(exponent, 2.0)) return square();
  if (is_constant(exponent, 3.0)) return make(Operation::multiply, base, square());
  if (is_constant(exponent, 4.0)) {
    const NodeId once = square();
    return make(Operation::multiply, once, once);
  }
  if (is_constant(exponent, -1.0)) return make(Operation::divide, constant(1.0), base);
  return unique({Operation::power, {base, exponent, 0}, 0.0});
}

NodeId ExpressionGraph::leaf(const std::string& name, const ExpressionNames& names) {
  if (const auto found = names.variables.find(name); found != names.variables.end())
    return variable(found->second);
  if (const auto found = names.constants.find(name); found != names.constants.end())
    return constant(found->second);
  if (const auto found = names.definitions.find(name); found != names.definitions.end())
    return definition(name, found->second, names);
  return constant(find_constant(name).value());
}

NodeId ExpressionGraph::definition(const std::string& name, const Expression& tree,
                                   const ExpressionNames& names) {
  if (const auto found = defined_.find(name); found != defined_.end()) return found->second;
  const NodeId value = add(tree, names);
  defined_.emplace(name, value);
  return value;
}

NodeId ExpressionGraph::operation(const ExpressionNode& node, std::span<const NodeId> arguments) {
  const Operation operation = operation_of(node);
  if (operation == Operation::minimum || operation == Operation::maximum) {
    NodeId result = arguments[0];
    for (const NodeId other : arguments.subspan(1)) result = make(operation, result, other);
    return result;
  }
  const auto at = [&](std::size_t i) { return i < arguments.size() ? arguments[i] : NodeId{0}; };
  return make(operation, at(0), at(1), at(2));
}

NodeId ExpressionGraph::add(const Expression& tree, const ExpressionNames& names) {
  struct Step {
    const ExpressionNode* node;
    std::size_t done;  ///< arguments that have been added
  };
  std::vector<Step> path = {{tree.get(), 0}};
  std::vector<NodeId> values;
  while (!path.empty()) {
    auto& [node, done] = path.back();
    if (done < node->arguments.size()) {
      path.push_back({node->arguments[done++].get(), 0});
      continue;
    }
    const std::size_t first = values.size() - node->arguments.size();
    const NodeId value = node->kind == ExpressionNode::Kind::number ? constant(node->value)
                         : node->kind == ExpressionNode::Kind::name
                             ? leaf(node->symbol, names)
                             : operation(*node, std::span(values).subspan(first));
    values.resize(first);
    values.push_back(value);
    path.pop_back();
  }
  return values.back();
}

}  // namespace concord
