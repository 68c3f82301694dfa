#include "support/matrix_exponential.hpp"

#include <unsupported/Eigen/MatrixFunctions>

namespace concord {

Eigen::MatrixXd matrix_exponential(const Eigen::MatrixXd& a) { return a.exp(); }

}  // namespace concord
