#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coupling/carries_errors.hpp"
#include "coupling/collocation/collocation_nodes.hpp"
#include "network/rank_network.hpp"

namespace concord {

/// One subsystem at the nodes of a macro-step of size h: slopes x_i' and states
///
///     x_i = x_0 + h sum_j A_ij x_j',
///
/// defects r_i = f(t_i, x_i, u_i) - x_i', and what their linearisation makes of corrections du_i of
/// its inputs (Kantorovich's form of Newton's method):
///
///     e_i' = f_x(i) h sum_j A_ij e_j' + f_u(i) du_i + r_i.
///
/// The states are eliminated: M = I - h A (x) f_x is factorised here, and outputs answer to inputs
/// at all nodes by K = T M^-1 f_u + g_u, T = g_x h A.
class NodeBlock {
 public:
  using Inputs = std::span<const std::span<const Sample>>;  ///< of this subsystem, per node
  using Outputs = std::span<const std::span<Sample>>;

  /// `fed`: its connected inputs, among its own.
  NodeBlock(RankNetwork& subsystems, std::size_t k, const CollocationNodes& nodes,
            std::vector<std::size_t> fed);

  /// A macro-step begins where the subsystem stands.
  void begin(const MacroStep& step);
  /// The macro-step that another block of the subsystem has begun.
  void begin_as(const NodeBlock& other);
  void set_slopes(const Eigen::MatrixXd& slopes);

  /// f and g at all nodes. False: the subsystem fails there.
  bool evaluate(const Inputs& inputs, const Outputs& outputs);
  /// The same with their derivatives, at all nodes.
  bool linearize(const Inputs& inputs, const Outputs& outputs);
  /// Derivatives at these nodes are those of the polynomials through another block's.
  void interpolate_derivatives(const NodeBlock& other);
  /// M and K, of the derivatives that were taken last.
  void factorize();
  /// K, rows (output, node), columns (connected input, node), the node running fastest.
  const Eigen::MatrixXd& gain() const { return gain_; }

  /// What outputs become where defects are corrected and inputs stay: adds to outputs.
  void correct_outputs(const Outputs& outputs);
  /// With corrections du of connected inputs, (input, node): the slopes are corrected. The largest
  /// correction of a state, in units of its size.
  double correct(const Eigen::VectorXd& du);

  const Eigen::VectorXd& begin_states() const { return begin_; }
  const Eigen::MatrixXd& slopes() const { return slopes_; }  ///< n_st x k
  const Eigen::MatrixXd& states() const { return states_; }  ///< at the nodes
  Eigen::VectorXd end_states() const {
    return begin_ + step_.size() * (slopes_ * nodes_.weights());
  }

  /// With derivatives at the nodes: outputs are what `error` makes of them, inputs being right.
  void answer_to(const CarriedError& error, const Outputs& outputs);
  /// Then what errors of states at the begin become, with errors du of connected inputs.
  Eigen::VectorXd end_errors(const Eigen::VectorXd& begin, const Eigen::VectorXd& du);

  /// How far the last correction moved each state, at the node where it did most.
  Eigen::VectorXd moved() const;

  /// What errors of the states at the end make of outputs, their inputs being right.
  Eigen::VectorXd outputs_by(const Eigen::VectorXd& states) const;

  /// What rounding leaves of sums that may cancel: of slopes |f_x| |x| + |f_u| |u|, of outputs
  /// |g_x| |x| + |g_u| |u|, at the last node.
  CarriedError rounding() const;
  /// What errors of the states at the end, of either sign, make of outputs at most.
  Eigen::VectorXd outputs_by_magnitudes(const Eigen::VectorXd& states) const;

  std::size_t fed_count() const { return fed_.size(); }
  const std::optional<std::string>& failure() const { return failure_; }

  /// Derivatives, and what was made of them.
  void io(Archive& archive);

 private:
  void set_step(const MacroStep& step);
  Eigen::Index count() const { return nodes_.count(); }
  StatePoint point_at(Eigen::Index node, const Inputs& inputs) const;
  template <class Ask>
  bool at_nodes(Work work, const Ask& ask);
  bool ask(Eigen::Index node, const Inputs& inputs, const Outputs& outputs);
  void find_states() { states_ = (slopes_ * inside_).colwise() + begin_; }
  double size_of(Eigen::Index state) const;
  double terms_of_slope(Eigen::Index state) const;
  void see_inputs(const Inputs& inputs);
  void fill_shifted(Eigen::MatrixXd& shifted) const;
  void fill_responses();

  RankNetwork& subsystems_;
  std::size_t k_;
  const CollocationNodes& nodes_;
  std::vector<std::size_t> fed_;
  MacroStep step_;
  Eigen::VectorXd begin_;
  Eigen::MatrixXd inside_;           ///< h A'
  Eigen::MatrixXd slopes_, states_;  ///< n_st x k
  Eigen::MatrixXd defects_, free_;   ///< r, and M^-1 r
  std::vector<Linearization> derivatives_;
  Eigen::VectorXd input_sizes_;  ///< |u| at the last node
  double factorized_for_ = 0.0;  ///< h; 0: not at all
  Eigen::PartialPivLU<Eigen::MatrixXd> factors_;
  Eigen::MatrixXd response_;   ///< M^-1 f_u
  Eigen::MatrixXd by_slopes_;  ///< T, rows (output, node)
  Eigen::MatrixXd gain_;
  std::optional<std::string> failure_;
};

}  // namespace concord
