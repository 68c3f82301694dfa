#include "coupling/estimation/phi_functions.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "coupling/estimation/small_product.hpp"
#include "support/factorizations.hpp"
#include "support/matrix_exponential.hpp"

namespace concord {
namespace {

constexpr double factorial[] = {1.0, 2.0, 6.0, 24.0, 120.0};

/// Weights V_k, k = 1..14, of Stehfest 1970: f(h) = ln2/h sum_k V_k F(k ln2/h). With more terms
/// than 14 the rounding of their alternating sum costs more digits than the terms gain.
std::array<double, 14> stehfest_weights() {
  constexpr int terms = 14, half = terms / 2;
  const auto fact = [](int n) { return std::tgamma(n + 1.0); };
  std::array<double, terms> weights{};
  for (int k = 1; k <= terms; ++k) {
    double sum = 0.0;
    for (int j = (k + 1) / 2; j <= std::min(k, half); ++j) {
      sum += std::pow(j, half) * fact(2 * j) /
             (fact(half - j) * fact(j) * fact(j - 1) * fact(k - j) * fact(2 * j - k));
    }
    weights[static_cast<std::size_t>(k - 1)] = (k + half) % 2 == 0 ? sum : -sum;
  }
  return weights;
}

/// Of hA, in the maximum norm, up to which no term of the series is larger than its sum.
constexpr double small = 1.0;

double norm_of(const Eigen::MatrixXd& a, double h) {
  if (a.size() == 0) return 0.0;
  return h * a.cwiseAbs().rowwise().sum().maxCoeff();
}

/// Terms of the series of phi_k behind the first that are not below rounding.
int series_terms(double norm, int k) {
  int terms = 0;
  for (double term = 1.0; term > std::numeric_limits<double>::epsilon() / 4.0; ++terms) {
    term *= norm / (k + terms + 1);
  }
  return terms;
}

}  // namespace

void PhiMatrices::resize(Eigen::Index n, Eigen::Index m) {
  constant.setZero(n, n);
  ramp.setZero(n, n);
  square.setZero(n, n);
  for (auto& p : power) {
    p.setZero(n, m);
  }
}

void PhiMatrices::compute(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h,
                          Response response, int degree) {
  power.resize(static_cast<std::size_t>(degree));
  resize(a.rows(), b.cols());
  if (a.rows() == 0) {
    return;
  }
  switch (response) {
    case Response::expm:
      return norm_of(a, h) <= small ? by_series(a, b, h) : by_exponential(a, b, h);
    case Response::stehfest:
      return by_stehfest(a, b, h);
    case Response::linear_implicit:
      return by_implicit_euler(a, b, h);
  }
}

void PhiMatrices::by_implicit_euler(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h) {
  const auto n = a.rows();
  constant = h * DenseFactors(Eigen::MatrixXd::Identity(n, n) - h * a).inverse();
  ramp = constant;
  square = constant;
  for (auto& p : power) {
    p.noalias() = constant * b;
  }
}

/// phi_k(z) = 1/k! + z/(k+1)! + z^2/(k+2)! + ... for the last k, by Horner's scheme; those before
/// from phi_{k-1}(z) = 1/(k-1)! + z phi_k(z). Macro-steps of ever other sizes, as events make them,
/// cost the exponential of the augmented matrix each time: twenty times as much for a few states.
void PhiMatrices::by_series(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h) {
  const auto last = static_cast<int>(power.size()) + 1;
  const Eigen::MatrixXd z = h * a;
  Eigen::MatrixXd phi = Eigen::MatrixXd::Zero(a.rows(), a.cols()), product = phi;
  const auto next = [&](double coefficient) {
    set_product(z, phi, product);
    product.diagonal().array() += coefficient;
    phi.swap(product);
  };
  const int terms = series_terms(norm_of(a, h), last);
  double coefficient = 1.0 / std::tgamma(last + terms + 1.0);
  for (int j = terms; j >= 0; --j) {
    next(coefficient);
    coefficient *= last + j;
  }
  for (int k = last; k >= 1; --k) {
    const auto p = static_cast<std::size_t>(k - 1);
    if (p > 0) {
      set_product(phi, b, power[p - 1]);
      power[p - 1] *= factorial[p - 1] * h;
    }
    if (p == 2) square = 2.0 * h * phi;
    if (p == 1) ramp = h * phi;
    if (p == 0) constant = h * phi;
    next(k > 2 ? 1.0 / factorial[k - 2] : 1.0);
  }
}

/// The first row of blocks of exp [hA I 0 0 0; 0 0 I 0 0; 0 0 0 I 0; 0 0 0 0 hB; 0 0 0 0 0] is
/// e^{hA}, phi_1, phi_2, phi_3, phi_4 hB; with more identities behind hB, phi_5 hB and so on.
void PhiMatrices::by_exponential(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h) {
  const Eigen::Index n = a.rows();
  const Eigen::Index m = b.cols();
  // B is scaled to at most one so that it doesn't drive the exponential's scaling.
  const double b_size = h * b.cwiseAbs().sum();
  const double scale = b_size > 1.0 ? b_size : 1.0;
  const auto beyond = static_cast<Eigen::Index>(power.size()) - 2;
  Eigen::MatrixXd augmented = Eigen::MatrixXd::Zero(4 * n + beyond * m, 4 * n + beyond * m);
  augmented.topLeftCorner(n, n) = h * a;
  for (Eigen::Index k = 0; k < 3; ++k) {
    augmented.block(k * n, (k + 1) * n, n, n).setIdentity();
  }
  augmented.block(3 * n, 4 * n, n, m) = h / scale * b;
  for (Eigen::Index k = 1; k < beyond; ++k) {
    augmented.block(4 * n + (k - 1) * m, 4 * n + k * m, m, m).setIdentity();
  }

  const Eigen::MatrixXd exponential = matrix_exponential(augmented);
  constant = h * exponential.block(0, n, n, n);
  ramp = h * exponential.block(0, 2 * n, n, n);
  square = 2.0 * h * exponential.block(0, 3 * n, n, n);
  power[0].noalias() = ramp * b;
  power[1].noalias() = square * b;
  for (Eigen::Index k = 0; k < beyond; ++k) {
    const auto p = static_cast<std::size_t>(k) + 2;
    power[p] = factorial[p] * scale * exponential.block(0, 4 * n + k * m, n, m);
  }
}

void PhiMatrices::by_stehfest(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double h) {
  static const auto weights = stehfest_weights();
  const auto identity = Eigen::MatrixXd::Identity(a.rows(), a.cols());
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double z = static_cast<double>(k + 1) * std::log(2.0);
    const double weight = std::log(2.0) * weights[k] * h;
    const DenseFactors shifted(z * identity - h * a);
    const Eigen::MatrixXd resolvent = shifted.solve(Eigen::MatrixXd(identity));
    const Eigen::MatrixXd from_inputs = resolvent * b;
    constant += weight / z * resolvent;
    ramp += weight / (z * z) * resolvent;
    square += weight * 2.0 / (z * z * z) * resolvent;
    for (std::size_t p = 0; p < power.size(); ++p) {
      power[p] += weight * factorial[p] / std::pow(z, static_cast<int>(p) + 2) * from_inputs;
    }
  }
}

void grown_and_summed(const Eigen::MatrixXd& a, double h, Eigen::MatrixXd& grown,
                      Eigen::MatrixXd& summed) {
  const Eigen::Index n = a.rows();
  if (norm_of(a, h) > small) {
    Eigen::MatrixXd augmented = Eigen::MatrixXd::Zero(2 * n, 2 * n);
    augmented.topLeftCorner(n, n) = h * a;
    augmented.topRightCorner(n, n).setIdentity();
    const Eigen::MatrixXd exponential = matrix_exponential(augmented);
    grown = exponential.topLeftCorner(n, n);
    summed = h * exponential.topRightCorner(n, n);
    return;
  }
  const Eigen::MatrixXd z = h * a;
  Eigen::MatrixXd phi = Eigen::MatrixXd::Zero(n, n), product = phi;
  for (int j = series_terms(norm_of(a, h), 1); j >= 0; --j) {
    set_product(z, phi, product);
    product /= j + 2.0;
    product.diagonal().array() += 1.0;
    phi.swap(product);
  }
  set_product(z, phi, grown);
  grown.diagonal().array() += 1.0;
  summed = h * phi;
}

}  // namespace concord
