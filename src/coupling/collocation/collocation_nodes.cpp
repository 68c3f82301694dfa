#include "coupling/collocation/collocation_nodes.hpp"

#include <petscdt.h>

#include "signal/lagrange.hpp"
#include "support/petsc.hpp"

namespace concord {
namespace {

struct Quadrature {
  Eigen::VectorXd points, weights;
};

Quadrature gauss_on(double from, double to, Eigen::Index count) {
  Quadrature rule{Eigen::VectorXd(count), Eigen::VectorXd(count)};
  petsc(PetscDTGaussQuadrature(static_cast<PetscInt>(count), from, to, rule.points.data(),
                               rule.weights.data()));
  return rule;
}

/// int_0^s l_j: Gauss' rule with as many points is exact for all l_j.
Eigen::VectorXd weights_up_to(const Eigen::VectorXd& points, double s) {
  const Quadrature rule = gauss_on(0.0, s, points.size());
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(points.size());
  for (Eigen::Index q = 0; q < rule.points.size(); ++q)
    sum += rule.weights[q] * lagrange_weights(points, rule.points[q]);
  return sum;
}

/// The end of the macro-step, and the zeros of the polynomial of degree k - 1 that is orthogonal to
/// all lower ones with the weight 1 - s (Hairer and Wanner, Solving ODEs II, IV.5).
Eigen::VectorXd radau_shares(Eigen::Index count) {
  Eigen::VectorXd shares = Eigen::VectorXd::Ones(count);
  Eigen::VectorXd points(count - 1), weights(count - 1);
  petsc(PetscDTGaussJacobiQuadrature(static_cast<PetscInt>(count - 1), -1.0, 1.0, 1.0, 0.0,
                                     points.data(), weights.data()));
  shares.head(count - 1) = 0.5 * (points.array() + 1.0);
  return shares;
}

}  // namespace

CollocationNodes::CollocationNodes(NodeFamily family, int count)
    : family_(family),
      order_(family == NodeFamily::gauss ? 2 * count : 2 * count - 1),
      shares_(family == NodeFamily::gauss ? gauss_on(0.0, 1.0, count).points : radau_shares(count)),
      inside_(count, count) {
  weights_ = up_to(1.0);
  for (Eigen::Index i = 0; i < shares_.size(); ++i) inside_.row(i) = up_to(shares_[i]);
}

Eigen::VectorXd CollocationNodes::with_begin() const {
  Eigen::VectorXd shares(count() + 1);
  shares << 0.0, shares_;
  return shares;
}

Eigen::VectorXd CollocationNodes::with_ends() const {
  if (family_ == NodeFamily::radau) return with_begin();
  Eigen::VectorXd shares(count() + 2);
  shares << 0.0, shares_, 1.0;
  return shares;
}

Eigen::VectorXd lagrange_weights(const Eigen::VectorXd& points, double s) {
  const auto count = static_cast<std::size_t>(points.size());
  Eigen::VectorXd weights(points.size());
  find_lagrange_weights({points.data(), count}, s, {weights.data(), count});
  return weights;
}

Eigen::VectorXd lagrange_slopes(const Eigen::VectorXd& points, double s) {
  const Eigen::Index n = points.size();
  Eigen::VectorXd slopes = Eigen::VectorXd::Zero(n);
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index without = 0; without < n; ++without) {
      double product = without == j ? 0.0 : 1.0 / (points[j] - points[without]);
      for (Eigen::Index i = 0; i < n; ++i) {
        product *= i == j || i == without ? 1.0 : (s - points[i]) / (points[j] - points[i]);
      }
      slopes[j] += product;
    }
  }
  return slopes;
}

Eigen::VectorXd CollocationNodes::at(double s) const { return lagrange_weights(shares_, s); }

Eigen::VectorXd CollocationNodes::up_to(double s) const { return weights_up_to(shares_, s); }

Eigen::VectorXd mean_weights(const Eigen::VectorXd& points) { return weights_up_to(points, 1.0); }

}  // namespace concord
