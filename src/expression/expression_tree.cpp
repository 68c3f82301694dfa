#include "expression/expression_tree.hpp"

#include <algorithm>

#include "concord/errors.hpp"
#include "expression/functions.hpp"
#include "expression/tree_walk.hpp"
#include "support/wording.hpp"

namespace concord {

[[noreturn]] void refuse(const PlacedExpression& expression, std::size_t position,
                         const std::string& problem) {
  const std::size_t shown = std::min(position, expression.text.size()) + 1;
  throw InputError(expression.place + ": " + problem + " (position " + std::to_string(shown) +
                   " of " + in_quotes(expression.text) + ")");
}

ExpressionNode::ExpressionNode(Kind node_kind, double number, std::string text,
                               std::vector<Expression> nodes)
    : kind(node_kind), value(number), symbol(std::move(text)), arguments(std::move(nodes)) {}

/// Takes over the arguments of whatever would go with this node, so that no destructor calls
/// another.
ExpressionNode::~ExpressionNode() {
  std::vector<Expression> going = std::move(arguments);
  while (!going.empty()) {
    const Expression node = std::move(going.back());
    going.pop_back();
    if (node.use_count() == 1) {
      auto& below = const_cast<ExpressionNode&>(*node).arguments;
      std::move(below.begin(), below.end(), std::back_inserter(going));
      below.clear();
    }
  }
}

Expression number_node(double value, std::string name) {
  return std::make_shared<const ExpressionNode>(ExpressionNode::Kind::number, value,
                                                std::move(name));
}

Expression name_node(std::string name) {
  return std::make_shared<const ExpressionNode>(ExpressionNode::Kind::name, 0.0, std::move(name));
}

Expression operation_node(std::string symbol, std::vector<Expression> arguments) {
  return std::make_shared<const ExpressionNode>(ExpressionNode::Kind::operation, 0.0,
                                                std::move(symbol), std::move(arguments));
}

Expression call_node(std::string function, std::vector<Expression> arguments) {
  return std::make_shared<const ExpressionNode>(ExpressionNode::Kind::call, 0.0,
                                                std::move(function), std::move(arguments));
}

Expression with_arguments(const Expression& node, const std::vector<Expression>& arguments) {
  if (arguments == node->arguments) return node;
  return std::make_shared<const ExpressionNode>(node->kind, node->value, node->symbol, arguments);
}

bool is_no_event(const ExpressionNode& node) {
  return node.kind == ExpressionNode::Kind::call &&
         (node.symbol == "no_event" || node.symbol == "noEvent" || node.symbol == simplified_side);
}

bool is_homotopy(const ExpressionNode& node) {
  return node.kind == ExpressionNode::Kind::call && node.symbol == "homotopy";
}

Expression along_homotopy(const Expression& tree, double part) {
  return from_leaves<Expression>(
      tree, [](const Expression&, std::vector<Expression>&) { return false; },
      [part](const Expression& node, const std::vector<Expression>& arguments) {
        if (!is_homotopy(*node)) return with_arguments(node, arguments);
        if (part == 0.0 || part == 1.0) return arguments[part == 0.0 ? 1 : 0];
        const auto share = [](double of, const Expression& side) {
          return operation_node("*", {number_node(of), side});
        };
        return operation_node("+", {share(part, arguments[0]), share(1.0 - part, arguments[1])});
      });
}

std::size_t nesting(const Expression& expression) {
  std::size_t deepest = 0;
  std::vector<std::pair<const ExpressionNode*, std::size_t>> open = {{expression.get(), 0}};
  while (!open.empty()) {
    const auto [node, depth] = open.back();
    open.pop_back();
    deepest = std::max(deepest, depth);
    const bool chain = node->arguments.size() == 2 && node->symbol.find_first_of("+-*/") == 0 &&
                       node->kind == ExpressionNode::Kind::operation;
    for (std::size_t i = 0; i < node->arguments.size(); ++i)
      open.emplace_back(node->arguments[i].get(), depth + (chain && i == 0 ? 0 : 1));
  }
  return deepest;
}

}  // namespace concord
