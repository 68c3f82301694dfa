#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "coupling/carries_errors.hpp"
#include "coupling/collocation/collocation_nodes.hpp"
#include "coupling/problem/row_major.hpp"
#include "coupling/problem/subsystem_gains.hpp"
#include "network/rank_network.hpp"
#include "support/factorizations.hpp"

namespace concord {

/// The linearisation of one subsystem at the nodes of a macro-step of size h, and what it makes of
/// defects r_i and of corrections du_i of its inputs (Kantorovich's form of Newton's method):
///
///     e_i' = f_x(i) h sum_j A_ij e_j' + f_u(i) du_i + r_i.
///
/// The states are eliminated: M = I - h A (x) f_x is factorised here, and outputs answer to inputs
/// at all nodes by K = T M^-1 f_u + g_u, T = g_x h A.
///
/// What goes with states has a row for each of them and a column for each node, and are rows of
/// what the whole rank has (NodeSystem).
class NodeBlock {
 public:
  template <class Number>
  struct Rows {
    Number* first;
    Eigen::Index stride;  ///< from one node to the next
    Number* at(Eigen::Index node) const { return first + node * stride; }
  };
  using Outputs = std::span<std::vector<Sample>>;  ///< of the whole rank, per node

  /// `fed`: its connected inputs, among its own.
  NodeBlock(const RankNetwork& subsystems, std::size_t k, const CollocationNodes& nodes,
            std::vector<std::size_t> fed);

  /// f and g with their derivatives at a node, where `known` has what is known of these there: a
  /// subsystem whose derivatives are the same everywhere leaves them as they are.
  void recall(Eigen::Index node, Linearization& known) const;
  /// Derivatives at a node, one node after the other. True: they were others.
  bool learn(Eigen::Index node, const Linearization& here);
  /// Derivatives at these nodes are those of the polynomials through another block's, with these
  /// weights of its nodes. True: they were others.
  bool interpolate(const NodeBlock& other, const Eigen::MatrixXd& weights);
  /// Keeps its derivatives where the other one does, if they are the same.
  void share_with(const NodeBlock& other);

  /// M and K, of the derivatives that were taken last; `inside`: h A'. They are those of one of the
  /// others, which has them for the same h, where derivatives are the same; or those for an h that
  /// is usual, from which an event has led away for some macro-steps. `leaves_usual`: the h so far
  /// is.
  void factorize(const Eigen::MatrixXd& inside, double h, bool leaves_usual,
                 std::span<const NodeBlock* const> others, SubsystemGains& gains);
  bool has_factors_of(const NodeBlock& other) const { return now_.factors == other.now_.factors; }

  /// free = M^-1 r.
  void solve(Rows<const double> defects, Rows<double> free) const;
  /// With corrections du of connected inputs, (input, node): free += M^-1 f_u du.
  void answer(std::span<const double> du, Rows<double> free) const;
  /// outputs += K du.
  void answer(std::span<const double> du, Outputs outputs) const;
  /// outputs += g_x of what has become of states at the nodes.
  void add_outputs(Rows<const double> states, Outputs outputs) const;

  /// r and y that `error` leaves at the nodes, inputs being right.
  void find_defects(const CarriedError& error, Rows<double> defects, Outputs outputs) const;

  /// What errors of the states at the end make of outputs, their inputs being right; and at most,
  /// of either sign.
  void put_outputs_by(const double* states, double* outputs) const;
  void put_outputs_by_magnitudes(const double* states, double* outputs) const;

  /// |f_x| |x| + |f_u| |u| of this state at the last node: what rounding is a share of.
  double terms_of_slope(Eigen::Index state, const double* x, const Sample* u) const;
  /// |g_x| |x| + |g_u| |u| of this output at a node.
  double terms_of_output(Eigen::Index output, Eigen::Index node, const double* x,
                         const Sample* u) const;

  std::size_t fed_count() const { return fed_.size(); }

  /// Nothing that was taken, interpolated or factorised is taken over.
  void forget() {
    parameters_ = taken_ = -1;
    changed();
  }
  /// Derivatives.
  void io(Archive& archive);
  int memory_version() const { return 2; }

 private:
  using Matrix = Eigen::Map<const RowMajor>;
  Eigen::Index per_node() const { return (n_ + p_) * (n_ + m_); }
  const double* at(Eigen::Index node) const { return derivatives_->data() + node * per_node(); }
  /// To be changed: nobody else's.
  double* own_derivatives();
  Matrix f_x(Eigen::Index node) const { return {at(node), n_, n_}; }
  Matrix f_u(Eigen::Index node) const { return {at(node) + n_ * n_, n_, m_}; }
  Matrix g_x(Eigen::Index node) const { return {at(node) + n_ * (n_ + m_), p_, n_}; }
  Matrix g_u(Eigen::Index node) const { return {at(node) + n_ * (n_ + m_) + p_ * n_, p_, m_}; }
  /// M, M^-1 f_u by columns, and K.
  struct Factors {
    DenseFactors shifted;
    Eigen::MatrixXd responses;
    RowMajor gains;
  };
  struct Known {
    double h = 0.0;  ///< 0: there are none
    std::shared_ptr<const Factors> factors;
  };
  struct Column {
    std::size_t input;  ///< among the connected ones
    Eigen::Index node;
  };
  bool is_like(const NodeBlock& other) const;
  void fill_shifted(const Eigen::MatrixXd& inside, Factors& factors) const;
  std::shared_ptr<const Factors> made_factors(const Eigen::MatrixXd& inside) const;
  void find_gains(const Eigen::MatrixXd& inside, const Column& column, Factors& factors) const;
  void changed() {
    ++version_;
    now_.h = usual_.h = 0.0;
  }

  std::size_t k_, first_output_;
  Eigen::Index nodes_, n_, m_, p_;  ///< of states, inputs, outputs
  std::vector<std::size_t> fed_;
  std::shared_ptr<std::vector<double>> derivatives_;  ///< per node f_x, f_u, g_x, g_u
  std::int64_t parameters_ = -1;                      ///< Linearization::parameters of them
  std::int64_t version_ = 0;                          ///< another one whenever they change
  std::int64_t taken_ = -1;  ///< the other block's, of which they were interpolated
  Known now_, usual_;
};

}  // namespace concord
