#pragma once

#include <Eigen/Core>

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

}  // namespace concord
