#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace concord {

/// An expression and where it stands: `place` begins every error message about it
/// ("two_mass.yaml:12: subsystem 'left', derivative of 'v'").
struct PlacedExpression {
  std::string text;
  std::string place;
};

/// Throws InputError: place, problem, position (counted from 0) and text.
[[noreturn]] void refuse(const PlacedExpression& expression, std::size_t position,
                         const std::string& problem);

struct ExpressionNode;
class UserFunctions;
using Expression = std::shared_ptr<const ExpressionNode>;

/// An expression as its user wrote it, as a tree.
struct ExpressionNode {
  enum class Kind { number, name, operation, call };

  Kind kind = Kind::number;
  double value = 0.0;  ///< of a number
  /// A variable, parameter or constant; a function; or an operation: + - * / ^ < > <= >= == != &&
  /// || of two arguments, - and ! of one, ? of three. Of a number that is the handle of a table,
  /// the table's name.
  std::string symbol;
  std::vector<Expression> arguments;

  ExpressionNode(Kind node_kind, double number, std::string text,
                 std::vector<Expression> nodes = {});
  ExpressionNode(const ExpressionNode&) = default;
  ExpressionNode& operator=(const ExpressionNode&) = default;
  ~ExpressionNode();  ///< one after the other, however deep the tree
};

/// `name`: of a table whose handle it is.
Expression number_node(double value, std::string name = "");
Expression name_node(std::string name);
Expression operation_node(std::string symbol, std::vector<Expression> arguments);
Expression call_node(std::string function, std::vector<Expression> arguments);

/// How many levels of the tree need brackets: arguments of functions, right operands, signs. Those
/// of a long sum or product need none.
std::size_t nesting(const Expression& expression);

/// ^ binds stronger than a sign and to the right, -x^2 = -(x^2), 2^3^2 = 2^9; comparisons bind
/// stronger than && and ||, ? : weakest. Names are not looked up, functions are: those that every
/// expression has and, where there are some, `own`. Throws InputError naming place, position and
/// what is wrong.
Expression parse_expression(const PlacedExpression& expression, const UserFunctions* own = nullptr);

}  // namespace concord
