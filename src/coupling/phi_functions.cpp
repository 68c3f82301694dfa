#include "coupling/phi_functions.hpp"

#include <unsupported/Eigen/MatrixFunctions>

namespace concord {

void PhiMatrices::compute(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h) {
  const Eigen::Index n = a.rows();
  const Eigen::Index m = b.cols();
  if (n == 0) {
    constant.resize(0, 0);
    ramp.resize(0, 0);
    for (auto& p : power) {
      p.resize(0, m);
    }
    return;
  }
  // B is scaled to at most one so that it doesn't drive the exponential's scaling.
  const double b_size = h * b.cwiseAbs().sum();
  const double scale = b_size > 1.0 ? b_size : 1.0;
  const Eigen::Index first_b = n;
  const Eigen::Index first_i = n + 4 * m;
  Eigen::MatrixXd augmented = Eigen::MatrixXd::Zero(3 * n + 4 * m, 3 * n + 4 * m);
  augmented.topLeftCorner(n, n) = h * a;
  augmented.block(0, first_b, n, m) = h / scale * b;
  augmented.block(0, first_i, n, n).setIdentity();
  for (Eigen::Index p = 0; p < 3; ++p) {
    augmented.block(first_b + p * m, first_b + (p + 1) * m, m, m).setIdentity();
  }
  augmented.block(first_i, first_i + n, n, n).setIdentity();

  const Eigen::MatrixXd exponential = augmented.exp();
  const double factorial[3] = {1.0, 2.0, 6.0};
  for (Eigen::Index p = 0; p < 3; ++p) {
    power[p] = factorial[p] * scale * exponential.block(0, first_b + (p + 1) * m, n, m);
  }
  constant = h * exponential.block(0, first_i, n, n);
  ramp = h * exponential.block(0, first_i + n, n, n);
}

}  // namespace concord
