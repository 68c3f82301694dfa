#pragma once

#include <span>
#include <vector>

#include "coupling/coupling.hpp"
#include "coupling/problem/constraint_rows.hpp"
#include "signal/hold.hpp"

namespace concord {

/// Which connected inputs (positions j in RankNetwork::connected_inputs()) begin a macro-step
/// afresh, as the polynomial of the end alone, instead of with the value and the slope they had at
/// t_N: what unknowns of indirect constraints feed, always, and signals whose slope at t_N misleads
/// about the macro-step, being in a layer that is over long before its end. The latter is decided
/// once per macro-step, so that the coupling stays as smooth as the subsystems are.
class Joins {
 public:
  Joins(const RankNetwork& subsystems, const ConstraintRows& constraints, const Hold& hold);

  /// A macro-step begins: no layer has been seen.
  void begin();

  /// Looks for layers, `ends` being a prediction of the inputs at t_N + h; true where some rank has
  /// found one. Collective.
  bool find_layers(const CommunicationPoint& point, std::span<const Sample> ends, double h);

  /// The same on this rank, without a decision.
  bool sees_layer(const CommunicationPoint& point, std::span<const Sample> ends, double h) const;

  /// Whether input j had a slope at t_N: what an indirect constraint's unknown was behind a new
  /// start follows from hidden constraints (HiddenConstraints), which say nothing of its slope.
  bool has_slope(std::size_t j, const CommunicationPoint& point) const;

  bool afresh(std::size_t j) const { return afresh_[j] != 0; }
  std::span<const char> afresh() const { return afresh_; }
  bool any_layer() const { return any_layer_; }  ///< on any rank

 private:
  double curvature(std::size_t i, const CommunicationPoint& point) const;
  bool is_layer(std::size_t j, const CommunicationPoint& point, std::span<const Sample> ends,
                double h) const;

  const RankNetwork& subsystems_;
  const ConstraintRows& constraints_;
  const Hold& hold_;
  std::vector<char> afresh_;
  bool any_layer_ = false;
};

}  // namespace concord
