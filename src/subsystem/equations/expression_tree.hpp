#pragma once

#include <memory>
#include <string>
#include <vector>

namespace concord {

struct ExpressionNode;
using Expression = std::shared_ptr<const ExpressionNode>;

/// An expression of the model file as a tree, for other languages than muParser's.
struct ExpressionNode {
  enum class Kind { number, name, operation, call };

  Kind kind = Kind::number;
  double value = 0.0;  ///< of a number
  /// A variable, parameter or constant; a function; or an operation: + - * / ^ < > <= >= == != &&
  /// || of two arguments, - and ! of one, ? of three.
  std::string symbol;
  std::vector<Expression> arguments;
};

/// Reads what ExpressionList accepts, with its rules: ^ binds stronger than a sign and to the
/// right, comparisons stronger than && and ||, ? : weakest. Throws InputError, which begins with
/// `place`, where parentheses and signs nest hundreds of times.
Expression parse_expression(const std::string& text, const std::string& place);

}  // namespace concord
