#include "coupling/collocation/input_curves.hpp"

#include <Eigen/QR>
#include <algorithm>

namespace concord {
namespace {

constexpr Eigen::Index most_powers = 6;

/// Of p(s) = p(0) + (p(1) - p(0)) s + s (1 - s) q(s), q by least squares.
Eigen::MatrixXd coefficients_by_values(const Eigen::VectorXd& shares,
                                       const Eigen::VectorXd& weights) {
  const Eigen::Index inside = shares.size() - 2;
  const Eigen::Index powers = std::min(inside, most_powers - 2);
  Eigen::MatrixXd powers_of_s(inside, powers), beside_line(inside, shares.size());
  beside_line.setZero();
  for (Eigen::Index i = 0; i < inside; ++i) {
    const double s = shares[i + 1], root = std::sqrt(weights[i]);
    double power = root * s * (1.0 - s);
    for (Eigen::Index p = 0; p < powers; ++p, power *= s) powers_of_s(i, p) = power;
    beside_line(i, 0) = -root * (1.0 - s);
    beside_line(i, i + 1) = root;
    beside_line(i, shares.size() - 1) = -root * s;
  }
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(most_powers, shares.size());
  result(0, 0) = 1.0;
  result(1, 0) = -1.0;
  result(1, shares.size() - 1) = 1.0;
  if (inside > 0) {
    const Eigen::MatrixXd q = powers_of_s.colPivHouseholderQr().solve(beside_line);
    result.middleRows(1, powers) += q;
    result.middleRows(2, powers) -= q;
  }
  return result;
}

}  // namespace

InputCurves::InputCurves(const CollocationNodes& nodes)
    : shares_(nodes.with_ends()), coefficients_(coefficients_by_values(shares_, nodes.weights())) {}

Eigen::VectorXd InputCurves::values(double begin, const Eigen::VectorXd& at_nodes,
                                    double end) const {
  Eigen::VectorXd result(count());
  result << begin, at_nodes.head(count() - 2), end;
  return result;
}

Polynomial InputCurves::polynomial(const Eigen::VectorXd& values, double h) const {
  const Eigen::VectorXd by_s = coefficients_ * values;
  Polynomial result;
  double power = 1.0;
  for (std::size_t p = 0; p < result.c.size(); ++p, power *= h) {
    result.c[p] = by_s[static_cast<Eigen::Index>(p)] / power;
  }
  return result;
}

}  // namespace concord
