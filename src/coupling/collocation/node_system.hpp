#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coupling/collocation/node_batch.hpp"
#include "coupling/collocation/node_block.hpp"
#include "coupling/coupling.hpp"
#include "coupling/problem/constraint_rows.hpp"
#include "coupling/problem/input_system.hpp"
#include "coupling/problem/unit_offsets.hpp"

namespace concord {

/// The whole network at the nodes of a macro-step: slopes x_i' of states, states
///
///     x_i = x_0 + h sum_j A_ij x_j',
///
/// and inputs that satisfy x_i' = f(t_i, x_i, u_i), u_i = P g(t_i, x_i, u_i), algebraic loops and
/// the equations of direct constraints among them, by Newton's method, whose defects are
/// r_i = f(t_i, x_i, u_i) - x_i'. With the states eliminated (NodeBlock), corrections of all inputs
/// at all nodes are one linear system,
///
///     (I - P K) du = P (y + T M^-1 r) - u,
///
/// sparse over the network, with a block of k x k for an output and an input of one subsystem.
///
/// What goes with states has a row for each of this rank's and a column for each node.
class NodeSystem {
 public:
  /// What a sweep has come to, the same on every rank.
  struct Sweep {
    bool failed = false;  ///< a subsystem, or the linear system
    double moved = 0.0;   ///< largest correction of a state or input, in units of its size
    bool late = false;    ///< some rank has no time left for one more
  };

  NodeSystem(RankNetwork& subsystems, const CollocationNodes& nodes, const SolverOptions& options);
  NodeSystem(const NodeSystem&) = delete;
  NodeSystem& operator=(const NodeSystem&) = delete;

  /// A macro-step begins where the subsystems stand; inputs that nothing moves are those of the
  /// point.
  void begin(const MacroStep& step, const CommunicationPoint& point);
  /// Derivatives and what was made of them, as in a system that is new.
  void forget();
  /// The macro-step that another system has begun.
  void begin_as(const NodeSystem& other);

  /// The guess, by weights of values elsewhere, a column for each node: slopes of states; connected
  /// input j (its position among these).
  void set_slopes(const Eigen::MatrixXd& by, const Eigen::MatrixXd& weights);
  void set_input(std::size_t j, std::span<const double> by, const Eigen::MatrixXd& weights);
  /// The same input at a node.
  double& input(std::size_t j, std::size_t node) {
    return inputs_[node][subsystems_.connected_inputs()[j]].value;
  }
  double input(std::size_t j, std::size_t node) const {
    return inputs_[node][subsystems_.connected_inputs()[j]].value;
  }

  enum class Derivatives { kept, fresh };
  /// Defects, and a correction of everything by what they are. Collective.
  Sweep sweep(Derivatives derivatives) { return sweep(derivatives, nullptr); }
  /// The same with derivatives between those of another system, which are `weights` of those at its
  /// nodes. Collective.
  Sweep sweep_with(const NodeSystem& other, const Eigen::MatrixXd& weights);

  /// Outputs, which answer to defects only, answer to what the last sweep has made of inputs, too.
  void complete_outputs();

  /// Errors, over the macro-step whose sweeps are done, by the derivatives of these: CarriesErrors.
  bool carry(std::span<CarriedError> errors, std::span<const double> inputs);

  const NodeBlock& block(std::size_t k) const { return blocks_[k]; }
  const Eigen::MatrixXd& slopes() const { return slopes_; }
  const Eigen::MatrixXd& states() const { return states_; }
  /// x_0 + h sum_i w_i x_i': states where these weights of slopes lead to.
  Eigen::VectorXd states_by(const Eigen::VectorXd& weights) const {
    return begin_ + over_step(slopes_, weights);
  }
  Eigen::VectorXd end_states() const { return states_by(weights_); }
  /// How far the last correction moved each state, at the node where it did most.
  const Eigen::VectorXd& moved() const { return most_moved_; }
  /// What rounding leaves of sums that may cancel: of slopes |f_x| |x| + |f_u| |u|, of outputs
  /// |g_x| |x| + |g_u| |u|, at the last node.
  void find_rounding(std::span<CarriedError> errors) const;

  double begin_input(std::size_t j) const {
    return begin_inputs_[subsystems_.connected_inputs()[j]];
  }
  /// Of the polynomial through these values, at the macro-step's end.
  double end_input(std::size_t j) const;
  /// Of this rank, at a node.
  std::span<const Sample> inputs_at(std::size_t node) const { return inputs_[node]; }
  std::span<const Sample> outputs_at(std::size_t node) const { return outputs_[node]; }

  std::size_t count() const { return inputs_.size(); }
  const Eigen::VectorXd& shares() const { return shares_; }
  PetscInt linear_iterations() const { return system_.iterations(); }
  /// What failed on this rank, if a subsystem did.
  const std::optional<std::string>& failure() const { return failure_; }
  void view() const { system_.view(); }

  /// Derivatives, and what was made of them. Collective.
  void io(Archive& archive);
  int memory_version() const { return 2; }

 private:
  enum Found : int { same, others, failed };

  void share_derivatives(std::size_t k);
  void set_step(const MacroStep& step);
  void put_begin_inputs();
  void find_states();
  Eigen::VectorXd over_step(const Eigen::MatrixXd& slopes, const Eigen::VectorXd& weights) const;
  double time_of(std::size_t node) const;
  StatePoint point_at(std::size_t k, std::size_t node) const;
  std::span<double> defects(std::size_t k, std::size_t node);
  std::span<Sample> outputs(std::size_t k, std::size_t node);
  template <class Ask>
  bool at_nodes(std::size_t k, Work work, const Ask& ask);
  bool evaluate(NodeBatch& batch);
  bool find_defects(NodeBatch& batch, Derivatives derivatives);
  bool evaluate(std::size_t k);
  bool linearize(std::size_t k);
  Found find_defects(Derivatives derivatives);
  Sweep sweep(Derivatives derivatives, const InputSystem* scaled_as);
  void assemble(bool anew, const InputSystem* scaled_as);
  void correct_outputs();
  void answer_to_inputs();
  double correct();
  double correct_inputs();
  double correct_states();
  double size_of(Eigen::Index state) const;

  RankNetwork& subsystems_;
  Eigen::VectorXd shares_, weights_;
  Eigen::MatrixXd coefficients_;
  ConstraintRows constraints_;
  InputSystem system_;
  std::vector<NodeBlock> blocks_;
  std::vector<NodeBatch> batches_;
  std::vector<std::size_t> alone_;  ///< in none of them
  MacroStep step_;
  int of_size_ = 0;            ///< macro-steps of its size in a row
  bool leaves_usual_ = false;  ///< more than one were of the size before
  double solved_for_ = 0.0;    ///< h of M and K: that of the macro-step, or nearly
  Eigen::MatrixXd inside_;     ///< h A'
  Eigen::VectorXd begin_;
  Eigen::MatrixXd slopes_, states_;
  Eigen::MatrixXd defects_, free_;  ///< r, and M^-1 r
  Eigen::MatrixXd moved_;           ///< states, by `free_`
  Eigen::VectorXd most_moved_;
  std::vector<std::vector<Sample>> inputs_, outputs_;  ///< per node, whole local arrays
  Eigen::VectorXd to_end_;                             ///< weights of values at the begin and nodes
  std::vector<double> begin_inputs_;
  std::vector<Sample> fed_;
  UnitOffsets offsets_;
  Linearization here_;          ///< scratch
  bool changed_ = false;        ///< derivatives, since the last `assemble`
  double assembled_for_ = 0.0;  ///< h; 0: not at all
  std::optional<std::string> failure_;
};

}  // namespace concord
