#pragma once

#include <Eigen/Core>
#include <vector>

namespace concord {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The values of a Linearization as the matrix that they are.
inline Eigen::Map<const RowMajor> row_major(const std::vector<double>& values, Eigen::Index rows,
                                            Eigen::Index columns) {
  return {values.data(), rows, columns};
}

}  // namespace concord
