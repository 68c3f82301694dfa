#pragma once

#include <vector>

#include "coupling/collocation/node_block.hpp"
#include "coupling/coupling.hpp"
#include "coupling/problem/constraint_rows.hpp"
#include "coupling/problem/input_system.hpp"

namespace concord {

/// The whole network at the nodes of a macro-step: states' slopes and inputs that satisfy
///
///     x_i' = f(t_i, x_0 + h sum_j A_ij x_j', u_i),     u_i = P g(t_i, x_i, u_i),
///
/// algebraic loops and the equations of direct constraints among them, by Newton's method. With the
/// states eliminated (NodeBlock), corrections of all inputs at all nodes are one linear system,
///
///     (I - P K) du = P (y + T M^-1 r) - u,
///
/// sparse over the network, with a block of k x k for an output and an input of one subsystem.
class NodeSystem {
 public:
  /// What a sweep has come to, the same on every rank.
  struct Sweep {
    bool failed = false;  ///< a subsystem, or the linear system
    double moved = 0.0;   ///< largest correction of a state or input, in units of its size
  };

  NodeSystem(RankNetwork& subsystems, const CollocationNodes& nodes, const SolverOptions& options);
  NodeSystem(const NodeSystem&) = delete;
  NodeSystem& operator=(const NodeSystem&) = delete;

  /// A macro-step begins where the subsystems stand; inputs that nothing moves are those of the
  /// point.
  void begin(const MacroStep& step, const CommunicationPoint& point);
  /// The macro-step that another system has begun.
  void begin_as(const NodeSystem& other);

  /// The guess: slopes of states of own subsystem k, n_st x k; values at all nodes of connected
  /// input j (its position among these).
  void set_slopes(std::size_t k, const Eigen::MatrixXd& slopes) { blocks_[k].set_slopes(slopes); }
  void set_inputs(std::size_t j, const Eigen::VectorXd& values);

  enum class Derivatives { kept, fresh };
  /// Defects, and a correction of everything by what they are. Collective.
  Sweep sweep(Derivatives derivatives);
  /// The same with derivatives between those of another system. Collective.
  Sweep sweep_with(const NodeSystem& other);

  /// Errors, over the macro-step whose sweeps are done, by the derivatives of these: CarriesErrors.
  bool carry(std::span<CarriedError> errors, std::span<const double> inputs);

  const NodeBlock& block(std::size_t k) const { return blocks_[k]; }
  Eigen::VectorXd inputs(std::size_t j) const;  ///< of connected input j, at all nodes
  double begin_input(std::size_t j) const {
    return begin_inputs_[subsystems_.connected_inputs()[j]];
  }
  /// Of the polynomial through these values, at the macro-step's end.
  double end_input(std::size_t j) const {
    return to_end_[0] * begin_input(j) + to_end_.tail(nodes_.count()).dot(inputs(j));
  }
  /// Of this rank, at a node.
  std::span<const Sample> inputs_at(std::size_t node) const { return inputs_[node]; }
  std::span<const Sample> outputs_at(std::size_t node) const { return outputs_[node]; }

  PetscInt linear_iterations() const { return system_.iterations(); }
  /// What failed on this rank, if a subsystem did.
  std::optional<std::string> failure() const;
  void view() const { system_.view(); }

  /// Derivatives, and what was made of them. Collective.
  void io(Archive& archive);

 private:
  std::size_t count() const { return static_cast<std::size_t>(nodes_.count()); }
  void put_begin_inputs();
  template <class Find>
  bool find_defects(const Find& find);
  void assemble();
  bool solve();
  double correct();
  void fill_right_side();

  RankNetwork& subsystems_;
  const CollocationNodes& nodes_;
  ConstraintRows constraints_;
  InputSystem system_;
  std::vector<NodeBlock> blocks_;
  std::vector<std::vector<Sample>> inputs_, outputs_;  ///< per node, whole local arrays
  /// Of them, per own subsystem, its own at each node.
  std::vector<std::vector<std::span<const Sample>>> inputs_of_;
  std::vector<std::vector<std::span<Sample>>> outputs_of_;
  Eigen::VectorXd to_end_;  ///< weights of values at the begin and the nodes
  std::vector<double> begin_inputs_;
  std::vector<Sample> fed_, fed_by_zero_;
  double h_ = 0.0;
  double assembled_for_ = 0.0;  ///< h; 0: not, with these derivatives
};

}  // namespace concord
