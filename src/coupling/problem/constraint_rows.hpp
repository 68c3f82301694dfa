#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "network/rank_network.hpp"

namespace concord {

/// What is special about the rows and unknowns of constraints in an implicit coupling. Positions j
/// are those in RankNetwork::connected_inputs().
///
/// An indirect constraint (index 2 or 3) fixes the mean and the first moment of its unknown over
/// the macro-step, not its end value: a hold that continues from the step before lets an error
/// grow, with a cubic in index 3 by 3 + sqrt(8) each step. What the unknown feeds therefore begins
/// every macro-step afresh, as the polynomial of the end's value and slope alone.
class ConstraintRows {
 public:
  explicit ConstraintRows(const RankNetwork& subsystems);

  /// In the whole network.
  bool any() const { return any_; }
  bool any_indirect() const { return any_indirect_; }

  /// Whether input j is fed by the unknown of an indirect constraint.
  bool begins_afresh(std::size_t j) const { return any_ && afresh_[j]; }

  /// Whether row j is the equation of a constraint itself.
  bool is_equation(std::size_t j) const { return any_ && equation_[j]; }

  /// What row j must be small against: |u|, or the sum of what the outputs in the equation make of
  /// it, |d gamma/dy_i| |y_i|.
  double size(std::size_t j, std::span<const Sample> inputs) const {
    return is_equation(j) ? sum_of_terms(j, inputs)
                          : std::abs(inputs[subsystems_.connected_inputs()[j]].value);
  }

  /// The same of the sizes of these outputs; 0 for rows that are no equation.
  double usual_size(std::size_t j) const;

  /// What is left of row j, u - P y, or gamma itself: beside an unknown in another unit the
  /// difference would lose its digits. `outputs` are all local ones.
  Sample rest_of(std::size_t j, const Sample& input, const Sample& fed,
                 std::span<const Sample> outputs) const {
    return is_equation(j) ? outputs[gamma_[j]]
                          : Sample{input.value - fed.value, input.derivative - fed.derivative,
                                   input.curvature - fed.curvature};
  }

  /// Local index of the output that gives an equation's row.
  std::size_t gamma(std::size_t j) const { return any_ ? gamma_[j] : 0; }

  /// The j of own indirect constraints' unknowns.
  std::span<const std::size_t> indirect_unknowns() const { return unknowns_; }

 private:
  double sum_of_terms(std::size_t j, std::span<const Sample> inputs) const;

  const RankNetwork& subsystems_;
  bool any_ = false;
  bool any_indirect_ = false;
  // Empty where there are no constraints.
  std::vector<bool> afresh_;
  std::vector<bool> equation_;
  std::vector<IndexRange> compared_;  ///< of equations, local inputs whose size counts
  std::vector<std::size_t> gamma_;
  std::vector<std::size_t> unknowns_;
};

}  // namespace concord
