#pragma once

#include <Eigen/Core>

namespace concord {

/// e^A of a square matrix, by scaling and squaring (Higham 2005).
Eigen::MatrixXd matrix_exponential(const Eigen::MatrixXd& a);

}  // namespace concord
