#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/c_expression.hpp"

namespace concord {

/// Statements of C that differentiate expressions in one direction: automatic differentiation,
/// forward, so that their number grows as the expressions do. Kinks have the slope of the branch
/// that is taken; steps have slope 0.
class CTangents {
 public:
  using Definitions = std::unordered_map<std::string, Expression>;

  /// `definitions`: of names that stand for expressions. All must outlive this object.
  CTangents(const CNames& names, const Definitions& definitions)
      : names_(names), definitions_(definitions) {}

  /// The directional derivative of `expression`, as it reads in C after the statements; empty:
  /// zero. The expression must outlive this object.
  std::string tangent(const Expression& expression);
  /// "  const double v1 = ...;\n" and so on.
  const std::string& statements() const { return statements_; }

 private:
  std::string value(const Expression& expression);
  std::string stored(const std::string& text);
  std::string derived(const Expression& expression);
  std::string of_operation(const Expression& expression);
  std::string of_power(const Expression& base, const Expression& exponent);
  std::string of_function(const Expression& expression);
  std::string of_table(const std::string& function, const std::vector<Expression>& arguments);
  std::string of_two(const std::string& function, const Expression& a, const Expression& b);
  std::string of_extremum(const ExpressionNode& node);
  std::string of_choice(const std::vector<Expression>& arguments);
  /// slope() * the argument's tangent; `slope` is asked only where that is not zero.
  std::string chain(const Expression& argument, const std::function<std::string()>& slope);

  const CNames& names_;
  const Definitions& definitions_;
  std::string statements_;
  std::map<const ExpressionNode*, std::string> values_, tangents_;
  int count_ = 0;
};

}  // namespace concord
