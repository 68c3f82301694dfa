#include "coupling/collocation/polynomial_tail.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace concord {
namespace {

/// Of a coefficient in the one before, where sums of all that follow are known.
constexpr double slowest = 0.95;

double legendre(Eigen::Index power, double s) {
  return std::legendre(static_cast<unsigned>(power), 2.0 * s - 1.0);
}

/// int_0^s P_n.
double legendre_integral(Eigen::Index power, double s) {
  return (legendre(power + 1, s) - legendre(power - 1, s)) / static_cast<double>(4 * power + 2);
}

Eigen::VectorXd legendre_at(const Eigen::VectorXd& points, Eigen::Index power) {
  return points.unaryExpr([power](double s) { return legendre(power, s); });
}

template <class Function>
double largest_within(const Function& function) {
  constexpr int places = 200;
  double largest = 0.0;
  for (int i = 0; i <= places; ++i)
    largest = std::max(largest, std::abs(function(static_cast<double>(i) / places)));
  return largest;
}

}  // namespace

PolynomialTail::PolynomialTail(const CollocationNodes& nodes)
    : to_coefficients_(nodes.count(), nodes.count()) {
  for (Eigen::Index n = 0; n < nodes.count(); ++n) {
    to_coefficients_.row(n) = static_cast<double>(2 * n + 1) *
                              nodes.weights().cwiseProduct(legendre_at(nodes.shares(), n));
  }
  const Eigen::VectorXd all = nodes.with_ends();
  points_ = all.size();
  const Eigen::VectorXd values = legendre_at(all, points_);
  of_value_ = largest_within(
      [&](double s) { return legendre(points_, s) - lagrange_weights(all, s).dot(values); });
  const Eigen::VectorXd slopes = legendre_at(nodes.shares(), nodes.count());
  of_integral_ = largest_within(
      [&](double s) { return legendre_integral(nodes.count(), s) - nodes.up_to(s).dot(slopes); });
}

double PolynomialTail::beyond(const double* values, Eigen::Index stride, Eigen::Index first) const {
  const Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<>> v(
      values, to_coefficients_.cols(), Eigen::InnerStride<>(stride));
  const Eigen::Index count = to_coefficients_.rows();
  const auto larger = [&](Eigen::Index from_end) {
    std::pair<double, Eigen::Index> found{0.0, 0};
    for (Eigen::Index n = std::max<Eigen::Index>(count - from_end, 0); n < count - from_end + 2;
         ++n)
      found = std::max(found, std::pair(std::abs(to_coefficients_.row(n).dot(v)), n));
    return found;
  };
  const auto [last, power] = larger(2);
  if (!(last > 0.0)) return 0.0;
  const double before = larger(4).first;
  double falls = last / before;
  if (count >= 6) falls *= std::min(1.0, std::sqrt(falls / (before / larger(6).first)));
  falls = std::min(falls, slowest * slowest);
  return last * std::pow(falls, 0.5 * static_cast<double>(first - power)) / (1.0 - falls);
}

double PolynomialTail::of_values(const double* values, Eigen::Index stride) const {
  return of_value_ * beyond(values, stride, points_);
}

double PolynomialTail::of_integral(const double* slopes, Eigen::Index stride) const {
  return of_integral_ * beyond(slopes, stride, to_coefficients_.rows());
}

}  // namespace concord
