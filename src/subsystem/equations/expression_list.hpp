#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace mu {
class Parser;
}

namespace concord {

/// An expression and where it stands: `place` begins every error message about it
/// ("two_mass.yaml:12: subsystem 'left', derivative of 'v'").
struct PlacedExpression {
  std::string text;
  std::string place;
};

/// The names that expressions may use beside functions and `pi`. Variables are read from where they
/// are bound at each evaluation; constants are compiled in.
struct ExpressionNames {
  std::unordered_map<std::string, double*> variables;
  std::unordered_map<std::string, double> constants;

  bool contains(const std::string& name) const {
    return variables.contains(name) || constants.contains(name);
  }
  /// All names, sorted, for error messages.
  std::vector<std::string> sorted() const;
};

/// Whether `name` is that of a function or built-in constant of expressions.
bool is_reserved_in_expressions(const std::string& name);

/// Expressions over the same names, compiled once by muParser and evaluated together.
///
/// `^` binds stronger than a sign and to the right: -x^2 = -(x^2), 2^3^2 = 2^9. Comparisons and
/// && || ! give 0 or 1. Division by zero and functions of undefined arguments give inf or NaN.
class ExpressionList {
 public:
  /// Throws InputError naming place, position, what is wrong and what is known.
  ExpressionList(std::span<const PlacedExpression> expressions, const ExpressionNames& names);
  ~ExpressionList();
  ExpressionList(ExpressionList&&) noexcept;
  ExpressionList& operator=(ExpressionList&&) noexcept;

  /// Fills `results`, one per expression.
  void evaluate(std::span<double> results) const;

 private:
  std::vector<std::unique_ptr<mu::Parser>> parsers_;  ///< each evaluates a part of the list
};

}  // namespace concord
