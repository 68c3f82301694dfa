#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "expression/program.hpp"

namespace concord {

/// A program evaluated for many instances at once (methods 16): registers are rows with a value per
/// instance, and each operation is done for all of them before the next one. Constants are each
/// instance's own. Results have the bits that Evaluation gives each instance alone.
///
/// Rows lie one behind the other: value i of row k is at k * instances() + i. What operations give
/// lies in memory that all evaluations share (Scratch).
class BatchEvaluation {
 public:
  /// At least one instance. Constants are 0 until they are set.
  BatchEvaluation(std::shared_ptr<const Program> program, std::size_t instances);

  const std::shared_ptr<const Program>& program() const { return program_; }
  std::size_t instances() const { return instances_; }
  std::size_t result_count() const { return program_->result_count(); }

  /// One per constant of the program, in the order of its registers.
  void set_constants(std::size_t instance, std::span<const double> constants);

  /// Fills `results`, a row per result, at the points `variables`, a row per variable.
  void run(std::span<const double> variables, std::span<double> results) const;

 private:
  void run_block(std::size_t first, std::size_t count, std::span<const double> variables,
                 std::span<double> operations, std::span<double> results) const;

  std::shared_ptr<const Program> program_;
  std::size_t instances_;
  std::size_t block_;  ///< so many instances at a time that what operations give stays in the cache
  std::vector<double> constants_;  ///< rows
};

/// slopes[row] += values[k] * direction[variable] for all instances, as ExpressionList::slopes does
/// for one: what does not move moves nothing.
void add_products(std::span<const double> values, std::span<const double> direction,
                  std::span<double> slopes);

}  // namespace concord
