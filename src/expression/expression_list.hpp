#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "expression/expression_graph.hpp"
#include "expression/program.hpp"

namespace concord {

/// The expression as a tree whose names are all known; functions of one's own are called, not
/// written out (FunctionCalls). Throws InputError naming place, position, what is wrong and what is
/// known.
Expression read_expression(const PlacedExpression& expression, const ExpressionNames& names);

/// The same, with functions written out: what their calls need is defined in `names`.
Expression read_whole_expression(const PlacedExpression& expression, ExpressionNames& names);

/// The value of a tree all of whose names are constants.
double value_of(const Expression& tree, const ExpressionNames& names);

/// Expressions over the same variables with all their first derivatives, read once and compiled.
/// Lists that differ in constants only share what is compiled.
///
/// Comparisons and && || ! give 0 or 1. Division by zero and functions of undefined arguments give
/// inf or NaN.
class ExpressionList {
 public:
  /// An entry of the Jacobian that may be other than zero.
  struct Entry {
    std::uint32_t row, variable;
    bool operator==(const Entry&) const = default;
  };

  /// Variables are numbered from 0 to `variable_count` - 1. Throws InputError naming place,
  /// position, what is wrong and what is known.
  ExpressionList(std::span<const PlacedExpression> expressions, const ExpressionNames& names,
                 std::size_t variable_count);

  /// Of trees whose names are all known.
  static ExpressionList of_trees(std::span<const Expression> trees, const ExpressionNames& names,
                                 std::size_t variable_count);

  std::size_t count() const { return values_.result_count(); }

  /// Whether the other one evaluates the same program.
  bool shares_with(const ExpressionList& other) const { return form_ == other.form_; }

  /// Its programs with its constants.
  const Evaluation& values() const { return values_; }
  const Evaluation& derivatives() const { return derivatives_; }

  /// Where the point of `evaluate` and of `differentiate` is to be written.
  std::span<double> point() { return values_.variables(); }

  /// Fills `results`, one per expression, at the point.
  void evaluate(std::span<double> results) { values_.run(results); }

  /// The Jacobian's structure, row by row and by variables in ascending order.
  std::span<const Entry> entries() const { return entries_; }

  /// The variables that the values depend on, ascending.
  const std::vector<std::uint32_t>& depends_on() const { return values_.variables_used(); }

  /// Whether no derivative depends on the point: all expressions are affine, by their form.
  bool affine() const;

  /// The exact values of the entries at the point; valid until the next call.
  std::span<const double> differentiate();

  /// slopes[row] = the derivative of each expression along `direction`, which has an entry per
  /// variable. What does not move moves nothing, however steep an expression is.
  void slopes(std::span<const double> direction, std::span<double> slopes);

 private:
  struct Form;
  struct Constants;
  ExpressionList(std::shared_ptr<const Form> form, const Constants& constants);

  std::shared_ptr<const Form> form_;
  Evaluation values_, derivatives_;
  std::span<const Entry> entries_;  ///< of the form
  std::vector<double> entry_values_;
};

}  // namespace concord
