#pragma once

#include <optional>
#include <string>

#include "coupling/collocation/finer_nodes.hpp"
#include "coupling/collocation/polynomial_tail.hpp"
#include "network/passed_way.hpp"

namespace concord {

/// All variables within a macro-step of a collocation method. Its own polynomials are wrong by
/// O(h^{k+1}) there, by far more than at its ends; those of a method with so many nodes that they
/// are not come from one step of Newton's method (FinerNodes).
class CollocationRows {
 public:
  CollocationRows(RankNetwork& subsystems, const CollocationNodes& nodes,
                  const SolverOptions& options);

  /// Points within the macro-step of a system whose sweeps are done, with inputs as they are at its
  /// end. False where a subsystem fails. Collective.
  bool find(const NodeSystem& solved, const MacroStep& step, std::span<const Sample> end_inputs,
            std::span<PassedPoint> points);
  /// By how much outputs may be wrong between the ends of that macro-step beyond what they are at
  /// these: of what the polynomials lack of states and inputs.
  std::span<const double> missed() const { return missed_; }
  /// Of this rank, after that.
  std::optional<std::string> failure() const { return failure_ ? failure_ : system_.failure(); }

 private:
  void fill(const NodeSystem& solved, const MacroStep& step, std::span<const Sample> end_inputs,
            PassedPoint& point) const;
  bool ask(const MacroStep& step, PassedPoint& point);
  void find_missed(double h);

  RankNetwork& subsystems_;
  CollocationNodes nodes_;
  NodeSystem system_;
  FinerNodes finer_;
  Eigen::VectorXd shares_;  ///< of nodes and ends
  PolynomialTail tail_;
  std::vector<double> states_missed_, missed_;
  std::vector<Sample> inputs_missed_;
  std::vector<double> at_nodes_;  ///< scratch: an input
  std::optional<std::string> failure_;
};

}  // namespace concord
