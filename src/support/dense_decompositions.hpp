#pragma once

#include <Eigen/Core>
#include <vector>

namespace concord {

/// LAPACK's decompositions of dense matrices (Anderson et al. 1999). All of what they give is NaN
/// where the iteration inside does not converge or the matrix is not finite.

/// Of a general square matrix, in no order; columns of `vectors` of length 1 (dgeev).
struct EigenPairs {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;
};
EigenPairs eigen_pairs(const Eigen::MatrixXd& a);
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& a);

/// Of a symmetric matrix, ascending; orthonormal columns (dsyev).
struct SymmetricEigenPairs {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
SymmetricEigenPairs symmetric_eigen_pairs(const Eigen::MatrixXd& a);

/// A = U diag(values) V^T, descending, k = min(rows, columns) of them: U has k columns, and V
/// (dgesvd).
struct SingularValues {
  Eigen::VectorXd values;
  Eigen::MatrixXd u, v;
};
SingularValues singular_values(const Eigen::MatrixXd& a);

/// A = Q T Q^T, T with blocks of one and two rows on its diagonal and nothing below them (dgees).
struct SchurForm {
  Eigen::MatrixXd t, q;
  Eigen::VectorXcd values;  ///< by row of T

  /// Brings those that are named by row to the top, a pair with both of its rows (dtrsen).
  void bring_to_top(const std::vector<bool>& rows);
};
SchurForm schur_form(const Eigen::MatrixXd& a);

/// X of A X + X B = C or A X - X B = C, and with B^T in place of B; A and B as T of a Schur form
/// (dtrsyl; Bartels and Stewart 1972). NaN where they have a common eigenvalue that leaves nothing.
enum class Sylvester { sum, difference, sum_transposed };
Eigen::MatrixXd solved_sylvester(Sylvester form, const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                 const Eigen::MatrixXd& c);

}  // namespace concord
