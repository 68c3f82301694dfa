#include "coupling/points/zero_stability.hpp"

#include <Eigen/Core>
#include <cmath>

#include "support/factorizations.hpp"
#include "support/spectral_radius.hpp"

namespace concord {
namespace {

/// D^{-1} A D with rows and columns of about equal norms (Osborne 1960): units don't count.
Eigen::MatrixXd balanced(Eigen::MatrixXd a) {
  constexpr int passes = 20;
  for (int pass = 0; pass < passes; ++pass) {
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      const double row = a.row(i).cwiseAbs().sum() - std::abs(a(i, i));
      const double column = a.col(i).cwiseAbs().sum() - std::abs(a(i, i));
      if (row > 0.0 && column > 0.0) {
        const double factor = std::sqrt(row / column);
        a.row(i) /= factor;
        a.col(i) *= factor;
      }
    }
  }
  return a;
}

/// Weights of the last order + 1 values, the newest first: (-1)^i binomial(order + 1, i + 1).
double weight(int order, int i) {
  double binomial = 1.0;
  for (int j = 0; j <= i; ++j) {
    binomial *= static_cast<double>(order + 1 - j) / static_cast<double>(j + 1);
  }
  return i % 2 == 0 ? binomial : -binomial;
}

}  // namespace

Eigen::MatrixXd loop_product(const Eigen::MatrixXd& gains, const std::vector<bool>& known) {
  const Eigen::Index n = gains.rows();
  Eigen::MatrixXd fresh = gains, held = gains;
  for (Eigen::Index i = 0; i < n; ++i) {
    (known[static_cast<std::size_t>(i)] ? held : fresh).col(i).setZero();
  }
  return DenseFactors(Eigen::MatrixXd::Identity(n, n) - fresh).solve(held);
}

Eigen::MatrixXd staggered_product(const Eigen::MatrixXd& gains,
                                  const std::vector<bool>& from_first) {
  const Eigen::Index n = gains.rows();
  Eigen::MatrixXd first = Eigen::MatrixXd::Identity(n, n), second = first;
  for (Eigen::Index i = 0; i < n; ++i) {
    (from_first[static_cast<std::size_t>(i)] ? first : second).row(i) = gains.row(i);
  }
  return second * first * second;
}

double growth_factor(const Eigen::MatrixXd& product, int order) {
  const Eigen::Index n = product.rows(), count = order + 1;
  const Eigen::MatrixXd j = balanced(product);
  Eigen::MatrixXd companion = Eigen::MatrixXd::Zero(n * count, n * count);
  for (Eigen::Index i = 0; i < count; ++i) {
    companion.block(0, i * n, n, n) = weight(order, static_cast<int>(i)) * j;
  }
  companion.bottomLeftCorner(n * (count - 1), n * (count - 1)).setIdentity();
  return spectral_radius(std::span(companion.data(), static_cast<std::size_t>(companion.size())),
                         static_cast<std::size_t>(companion.rows()));
}

std::vector<bool> known_in_sequence(const Network& network, const Groups& groups) {
  std::vector<std::size_t> group(network.n_subsystems(), groups.size());
  std::vector<std::size_t> stage(network.n_subsystems(), 0);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t s = 0; s < groups[g].size(); ++s) {
      group[groups[g][s]] = g;
      stage[groups[g][s]] = s;
    }
  }
  std::vector<bool> result(network.n_inputs(), false);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (const auto& link = network.coupled_links()[i]) {
      const std::size_t to = network.subsystem_of_input(i);
      const std::size_t from = network.subsystem_of_output(link->output);
      result[i] = group[to] < groups.size() && group[to] == group[from] && stage[from] < stage[to];
    }
  }
  return result;
}

}  // namespace concord
