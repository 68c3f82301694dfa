#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "coupling/problem/linear_map.hpp"
#include "support/factorizations.hpp"

namespace concord {

/// How delta x' = A delta x + w, w constant over each of two parts of an interval H, carries errors
/// from its begin over (1 - gamma) H and on over gamma H, gamma = 1 - 1/sqrt(2): for few states as
/// they are, by e^{hA} and h phi_1(hA), so that errors of an oscillator that turns far within H
/// keep their phase and size; for many as the two stages of Alexander's implicit method (1977) do.
/// Where A is 0 both are the same, and of what dies out fast both leave -A^-1 w.
class CarriedErrors {
 public:
  static constexpr double gamma = 0.29289321881345248;

  /// Up to which an exponential costs no more than the linearisation.
  static constexpr Eigen::Index few_states = 40;

  enum class How { exactly, by_stages };

  /// For an interval of size h.
  void prepare(const LinearMap& a, double h, How how);

  /// gamma H R B: what inputs u over gamma H make of the states at its end.
  LinearMap response(const LinearMap& b) const;

  /// From x over gamma H.
  Eigen::VectorXd over_last(const LinearMap::Vector& x, const LinearMap::Vector& w) const;
  /// From x over (1 - gamma) H; `stage`: where it was after gamma H of the same w.
  Eigen::VectorXd over_first(const LinearMap::Vector& x, const LinearMap::Vector& stage,
                             const LinearMap::Vector& w) const;

 private:
  /// I - gamma H A where A is sparse.
  struct Sparse {
    SparseFactors shifted;
    std::vector<int> part_of;             ///< of each state; none depends on another part's
    std::vector<std::vector<int>> parts;  ///< their states

    Eigen::VectorXd solve(const Eigen::VectorXd& right) const;
    SparseRows response(const SparseRows& forcing) const;
  };

  void prepare_sparse(const SparseRows& a);

  bool exact_ = false;
  double last_ = 0.0;                           ///< gamma H
  Eigen::MatrixXd grown_first_, summed_first_;  ///< e^{hA}, h phi_1(hA) with h = (1 - gamma) H
  Eigen::MatrixXd grown_last_, summed_last_;    ///< with h = gamma H
  DenseFactors shifted_;                        ///< of many: I - gamma H A
  std::unique_ptr<Sparse> sparse_;
};

}  // namespace concord
