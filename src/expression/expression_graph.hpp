#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "expression/expression_tree.hpp"
#include "expression/functions.hpp"

namespace concord {

/// The names that expressions may use beside functions and `pi`. Variables are numbered; constants
/// are folded in, and definitions are what they stand for.
struct ExpressionNames {
  std::unordered_map<std::string, std::uint32_t> variables;
  std::unordered_map<std::string, double> constants;
  /// Names of expressions, which use these names in turn, without loops.
  std::unordered_map<std::string, Expression> definitions = {};
  std::shared_ptr<const UserFunctions> functions = {};  ///< of one's own; null: none

  bool contains(const std::string& name) const {
    return variables.contains(name) || constants.contains(name) || definitions.contains(name);
  }
  /// All names, sorted, for error messages.
  std::vector<std::string> sorted() const;
};

/// What an operation or call does; min and max of more than two do it again and again.
Operation operation_of(const ExpressionNode& node);

/// A node of an ExpressionGraph; its arguments have smaller numbers.
using NodeId = std::uint32_t;

/// Expressions in which equal parts are one node and operations on constants are done. Values are
/// those of the expressions as written, apart from signs of zero.
class ExpressionGraph {
 public:
  struct Node {
    Operation operation;
    std::array<NodeId, 3> arguments;  ///< of a variable: its number
    double value;                     ///< of a constant
    bool operator==(const Node&) const = default;
  };

  const Node& operator[](NodeId id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }
  bool is_constant(NodeId id) const { return nodes_[id].operation == Operation::constant; }
  bool is_constant(NodeId id, double value) const {
    return is_constant(id) && nodes_[id].value == value;
  }
  std::span<const NodeId> arguments(NodeId id) const {
    return std::span(nodes_[id].arguments).first(argument_count(nodes_[id].operation));
  }

  NodeId constant(double value);
  NodeId variable(std::uint32_t number);
  NodeId make(Operation operation, NodeId a, NodeId b = 0, NodeId c = 0);

  /// The tree's names must be known.
  NodeId add(const Expression& tree, const ExpressionNames& names);

 private:
  struct Hash {
    std::size_t operator()(const Node& node) const;
  };
  NodeId leaf(const std::string& name, const ExpressionNames& names);
  NodeId definition(const std::string& name, const Expression& tree, const ExpressionNames& names);
  NodeId operation(const ExpressionNode& node, std::span<const NodeId> arguments);
  NodeId simplified(Operation operation, NodeId a, NodeId b, NodeId c);
  NodeId power(NodeId base, NodeId exponent);
  NodeId unique(const Node& node);

  std::vector<Node> nodes_;
  std::unordered_map<Node, NodeId, Hash> known_;
  std::unordered_map<std::string, NodeId> defined_;
};

}  // namespace concord
