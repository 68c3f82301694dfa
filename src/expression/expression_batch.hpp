#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "expression/batch_evaluation.hpp"
#include "expression/expression_list.hpp"

namespace concord {

/// Lists that share their programs, evaluated together, each with constants of its own: what they
/// give alone, with the same bits. A row has a value per list; rows of variables, results and
/// entries lie one behind the other.
class ExpressionBatch {
 public:
  /// All like `first`, until they are set.
  ExpressionBatch(const ExpressionList& first, std::size_t instances);

  /// Takes over the constants of a list. False where it does not share the programs.
  bool set(std::size_t instance, const ExpressionList& list);

  std::size_t instances() const { return values_.instances(); }
  std::size_t count() const { return values_.result_count(); }

  /// Fills `results`, a row per expression, at the points, which have a row per variable.
  void evaluate(std::span<const double> points, std::span<double> results) const {
    values_.run(points, results);
  }

  /// The Jacobian's structure, that of each list.
  std::span<const ExpressionList::Entry> entries() const { return first_.entries(); }

  /// The exact values of the entries at the points, a row per entry; valid until the next call.
  std::span<const double> differentiate(std::span<const double> points);

  /// Fills `slopes`, a row per expression, with the derivatives along `directions`, which has a row
  /// per variable. What does not move moves nothing, however steep an expression is.
  void slopes(std::span<const double> points, std::span<const double> directions,
              std::span<double> slopes) const;

 private:
  ExpressionList first_;
  BatchEvaluation values_, derivatives_;
  std::vector<double> entry_values_;  ///< once somebody has asked for them
};

}  // namespace concord
