#pragma once

#include <optional>
#include <vector>

#include "coupling/carries_errors.hpp"
#include "coupling/collocation/finer_nodes.hpp"
#include "coupling/collocation/state_error_norm.hpp"
#include "coupling/problem/output_error_norm.hpp"

namespace concord {

/// What a macro-step of a collocation method leaves wrong at its end: what defects of its
/// polynomials at the nodes of the method with one node more, which are no nodes of its own, make
/// of the states there. That is one Newton step for the other method, whose errors are of two
/// orders more, so that the estimate is exact to leading order, where derivatives are those of this
/// macro-step: what a defect of O(h^k) makes of the end is O(h^{2k+1}) by cancellation only.
///
/// Without step control only some macro-steps are looked at; those that follow leave about as much.
class CollocationError {
 public:
  /// `take_nodes` before anything else.
  CollocationError(RankNetwork& subsystems, const Method& method);

  /// Macro-steps have these nodes from now on, and are looked at by a system of one more.
  void take_nodes(const CollocationNodes& nodes, NodeSystem& finer);

  /// Whether the macro-step that begins is looked at; then its derivatives are to be its own. The
  /// same on every rank.
  bool due() const { return controls_ || rest_ == 0; }
  /// Of a system whose sweeps are done, or were ended early. False where a subsystem fails at these
  /// nodes. Collective.
  bool find(const NodeSystem& system, const MacroStep& step, bool ended_early);

  /// Whether the last macro-step was looked at; then the most that each connected input's
  /// polynomial misses of the better solution within.
  bool looked() const { return looked_; }
  void compare_inputs(std::span<const Polynomial> inputs, double h, std::span<double> missed) const;

  /// Of the states of own subsystem k, what they are less what they should be.
  std::span<const double> of_states(std::size_t k) const;

  /// err of the step control: the worst state or output, in units of its tolerance. Collective.
  double norm(double h, std::span<const Sample> outputs);
  /// How far the better solution is from that of `find` within the macro-step it has looked at, as
  /// a share of what states are. The same on every rank.
  double within() const { return within_; }
  double unmasked() const { return unmasked_; }  ///< the same with all that may be noise
  /// Of what `find` has seen: the share that each further power of the polynomials has of the one
  /// before (1: nothing), a root of what k nodes leave at the end, O(h^{order+1}), as a share of
  /// what they leave within, O(h^{k+1}).
  double decay() const;
  /// The trial became the communication point.
  void commit(const CommunicationPoint& point);
  /// A start, or an event.
  void restart(const CommunicationPoint& point);

  void io(Archive& archive);

 private:
  void find_errors();
  void find_noise();
  double in_tolerances(double h, std::span<const Sample> outputs);
  bool look(const NodeSystem& system, const MacroStep& step);

  RankNetwork& subsystems_;
  std::optional<FinerNodes> finer_;
  bool controls_;                       ///< the step control stands on it
  bool looked_ = false;                 ///< at the last macro-step
  int rest_ = 0;                        ///< macro-steps up to the next look
  double unmasked_ = 0.0;               ///< err
  double at_end_ = 0.0, within_ = 0.0;  ///< largest, as shares of what states are
  double seen_for_ = 0.0;               ///< h of the macro-step that was looked at last
  std::vector<double> state_errors_, output_errors_;
  std::vector<double> seen_errors_;  ///< of states, of that macro-step
  std::vector<double> moved_;        ///< states, by the better solution, within that macro-step
  std::vector<double> state_noise_, output_noise_;  ///< what rounding leaves, where that counts
  std::vector<CarriedError> rounding_;
  std::vector<double> no_inputs_;  ///< 0 each
  StateErrorNorm states_;
  OutputErrorNorm outputs_;
  std::vector<double> x_;  ///< states, where the macro-step ends
};

}  // namespace concord
