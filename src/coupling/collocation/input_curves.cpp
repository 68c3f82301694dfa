#include "coupling/collocation/input_curves.hpp"

#include <algorithm>

#include "support/factorizations.hpp"

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
    const Eigen::MatrixXd q = least_squares_solution(powers_of_s, beside_line);
    result.middleRows(1, powers) += q;
    result.middleRows(2, powers) -= q;
  }
  return result;
}

}  // namespace

InputCurves::InputCurves(const CollocationNodes& nodes)
    : shares_(nodes.with_ends()), coefficients_(coefficients_by_values(shares_, nodes.weights())) {}

Polynomial InputCurves::polynomial(std::span<const double> values, double h) const {
  Polynomial result;
  for (Eigen::Index v = 0; v < count(); ++v) {
    const double value = values[static_cast<std::size_t>(v)];
    for (std::size_t p = 0; p < result.c.size(); ++p)
      result.c[p] += coefficients_(static_cast<Eigen::Index>(p), v) * value;
  }
  double power = 1.0;
  for (double& c : result.c) {
    c /= power;
    power *= h;
  }
  return result;
}

}  // namespace concord
