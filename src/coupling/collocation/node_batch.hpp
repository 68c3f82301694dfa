#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "network/rank_network.hpp"

namespace concord {

/// Subsystems with the same equations, asked together at a node (methods 16).
class NodeBatch {
 public:
  NodeBatch(const RankNetwork& subsystems, const SubsystemBatch& batch);

  std::span<const std::size_t> members() const { return batch_.members; }

  /// Takes over what has changed in them; whether they still fit.
  bool refresh() { return batch_.steps->refresh(); }

  /// Derivatives of f and g, which are the same at every point, have been taken of each.
  bool knows_derivatives() const { return known_ == batch_.steps->version(); }
  void note_derivatives() {
    known_ = batch_.steps->keeps_derivatives() ? batch_.steps->version() : -1;
  }
  void forget_derivatives() { known_ = -1; }

  /// f and g at time t; whole local arrays. False where a member would fail, and nothing is said of
  /// any.
  bool evaluate(double t, const double* states, std::span<const Sample> inputs, double* slopes,
                std::span<Sample> outputs);

 private:
  const SubsystemBatch& batch_;
  std::vector<std::size_t> states_, inputs_, outputs_;  ///< where those of each begin
  std::vector<double> x_, u_, f_, y_;                   ///< rows
  std::int64_t known_ = -1;
};

}  // namespace concord
