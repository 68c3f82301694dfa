#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include "support/factorizations.hpp"

namespace concord {

/// Solves x' = A x + w(tau), x(0) = 0, w a polynomial, over [0,h] for large A, without any n x n
/// exponential.
///
/// With s = tau/h and zeta_p = s^p/p! it is z' = M z, z = (x, zeta), M = [hA W; 0 N] (Al-Mohy and
/// Higham 2011); z(1) = e^M z(0) comes from a shift-and-invert Krylov space, spanned by
/// (I - gamma M)^-1 (van den Eshof and Hochbruck 2006). Its dimension hardly depends on how stiff A
/// is; where the solution oscillates many times in [0,h], the interval is divided. One
/// factorisation of I - gamma h A, sparse where A is, serves until A or h changes.
class ExponentialAction {
 public:
  /// A is n x n; h > 0 in s.
  void prepare(const Eigen::MatrixXd& a, double h);
  void prepare(const Eigen::SparseMatrix<double>& a, double h);

  /// x(h) for w = sum_p forcing.col(p) (tau/h)^p; at most six columns. Not a number where A isn't
  /// finite or the solution oscillates thousands of times.
  Eigen::VectorXd response(const Eigen::MatrixXd& forcing);

 private:
  void factorise();
  bool factorise_once();
  Eigen::MatrixXd solve(const Eigen::MatrixXd& right) const;
  Eigen::VectorXd apply_inverse(const Eigen::VectorXd& z) const;
  bool advance(Eigen::VectorXd& z);

  Eigen::Index n_ = 0;
  double h_ = 0.0;
  int parts_ = 1;  ///< that [0,h] is divided into
  bool sparse_ = true;
  bool factorised_ = false;
  Eigen::MatrixXd dense_a_;
  Eigen::SparseMatrix<double> sparse_a_;
  SparseFactors sparse_lu_;
  DenseFactors dense_lu_;
  Eigen::MatrixXd forcing_;  ///< W
  Eigen::MatrixXd basis_, hessenberg_;
};

}  // namespace concord
