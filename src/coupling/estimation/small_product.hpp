#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

namespace concord {

constexpr Eigen::Index few_states = 16;

/// result += matrix vector, the terms of each row summed up in their order. Eigen's kernel for
/// large matrices gives the same and takes longer than the product itself where there are few
/// states.
inline void add_product(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& vector,
                        Eigen::VectorXd& result) {
  if (matrix.cols() <= few_states) {
    result.noalias() += matrix.lazyProduct(vector);
  } else {
    result.noalias() += matrix * vector;
  }
}

inline void add_product(const Eigen::SparseMatrix<double, Eigen::RowMajor>& matrix,
                        const Eigen::VectorXd& vector, Eigen::VectorXd& result) {
  result.noalias() += matrix * vector;
}

/// result = a b, in the same way.
inline void set_product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                        Eigen::MatrixXd& result) {
  if (a.cols() <= few_states) {
    result.noalias() = a.lazyProduct(b);
  } else {
    result.noalias() = a * b;
  }
}

}  // namespace concord
