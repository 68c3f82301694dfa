#pragma once

#include <Eigen/Core>

namespace concord {

/// result += matrix vector, the terms of each row summed up in their order. Eigen's kernel for
/// large matrices gives the same and takes longer than the product itself where there are few
/// states.
inline void add_product(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& vector,
                        Eigen::VectorXd& result) {
  constexpr Eigen::Index few = 16;
  if (matrix.cols() <= few) {
    result.noalias() += matrix.lazyProduct(vector);
  } else {
    result.noalias() += matrix * vector;
  }
}

}  // namespace concord
