#include "coupling/estimation/exponential_action.hpp"

#include <algorithm>
#include <limits>

#include "support/matrix_exponential.hpp"

namespace concord {
namespace {

constexpr Eigen::Index largest_space = 60;
constexpr Eigen::Index check_every = 4;

/// Of the solution, between two sizes of the Krylov space; the error itself is smaller.
constexpr double tolerance = 1e-11;

/// gamma as a share of the part of [0,1] that is solved at once.
constexpr double gamma_share = 0.1;

/// Parts of [0,h] beyond which it is no use to divide on.
constexpr int most_parts = 1024;

/// Share of nonzeros up to which factors are sparse.
constexpr double sparse_share = 0.1;

}  // namespace

void ExponentialAction::prepare(const Eigen::MatrixXd& a, double h) {
  n_ = a.rows();
  h_ = h;
  const double nonzeros = static_cast<double>((a.array() != 0.0).count());
  sparse_ = nonzeros <= sparse_share * static_cast<double>(a.size()) + static_cast<double>(n_);
  if (sparse_) {
    sparse_a_ = a.sparseView(0.0, 0.0);
  } else {
    dense_a_ = a;
  }
  parts_ = std::max(1, parts_ / 2);
  factorise();
}

void ExponentialAction::prepare(const Eigen::SparseMatrix<double>& a, double h) {
  n_ = a.rows();
  h_ = h;
  sparse_ = true;
  sparse_a_ = a;
  parts_ = std::max(1, parts_ / 2);
  factorise();
}

/// I - gamma h A, with a smaller gamma where that is singular.
void ExponentialAction::factorise() {
  while (!factorise_once() && parts_ < most_parts) {
    parts_ *= 2;
  }
}

bool ExponentialAction::factorise_once() {
  const double factor = gamma_share / parts_ * h_;
  if (sparse_) {
    Eigen::SparseMatrix<double> shifted(n_, n_);
    shifted.setIdentity();
    shifted -= factor * sparse_a_;
    shifted.makeCompressed();
    factorised_ = sparse_lu_.compute(shifted);
  } else {
    dense_lu_.compute(Eigen::MatrixXd::Identity(n_, n_) - factor * dense_a_);
    factorised_ = true;
  }
  return factorised_;
}

Eigen::MatrixXd ExponentialAction::solve(const Eigen::MatrixXd& right) const {
  if (sparse_) {
    return sparse_lu_.solve(right);
  }
  return dense_lu_.solve(right);
}

/// (I - gamma M)^-1 z, by blocks.
Eigen::VectorXd ExponentialAction::apply_inverse(const Eigen::VectorXd& z) const {
  const double gamma = gamma_share / parts_;
  Eigen::VectorXd result(z.size());
  const Eigen::Index powers = forcing_.cols();
  auto zeta = result.tail(powers);
  zeta = z.tail(powers);
  for (Eigen::Index p = 1; p < powers; ++p) {
    zeta[p] += gamma * zeta[p - 1];
  }
  result.head(n_) = solve(z.head(n_) + gamma * (forcing_ * zeta));
  return result;
}

/// z = e^{M / parts} z, or false where the largest Krylov space doesn't do.
bool ExponentialAction::advance(Eigen::VectorXd& z) {
  const double size = z.norm();
  basis_.resize(z.size(), largest_space + 1);
  hessenberg_.setZero(largest_space + 1, largest_space);
  basis_.col(0) = z / size;
  Eigen::VectorXd before;
  for (Eigen::Index m = 1; m <= largest_space; ++m) {
    Eigen::VectorXd next = apply_inverse(basis_.col(m - 1));
    const double length = next.norm();
    for (int twice = 0; twice < 2; ++twice) {
      const Eigen::VectorXd along = basis_.leftCols(m).transpose() * next;
      next -= basis_.leftCols(m) * along;
      hessenberg_.col(m - 1).head(m) += along;
    }
    const double beyond = next.norm();
    const bool complete = beyond <= 1e-14 * length;
    if (complete || m % check_every == 0) {
      const Eigen::MatrixXd inverse = DenseFactors(hessenberg_.topLeftCorner(m, m)).inverse();
      const Eigen::MatrixXd exponent = (Eigen::MatrixXd::Identity(m, m) - inverse) / gamma_share;
      Eigen::VectorXd now = matrix_exponential(exponent).col(0);
      Eigen::VectorXd change = now;
      change.head(before.size()) -= before;
      if (complete || change.norm() <= tolerance * now.norm()) {
        z = size * (basis_.leftCols(m) * now);
        return true;
      }
      before = std::move(now);
    }
    hessenberg_(m, m - 1) = beyond;
    basis_.col(m) = next / beyond;
  }
  return false;
}

Eigen::VectorXd ExponentialAction::response(const Eigen::MatrixXd& forcing) {
  constexpr double factorial[] = {1.0, 1.0, 2.0, 6.0, 24.0, 120.0};
  const Eigen::Index powers = forcing.cols();
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  while (factorised_) {
    // W is scaled so that x becomes of order one, like zeta.
    const double scale = h_ * solve(forcing).colwise().norm().maxCoeff();
    if (!(scale > 0.0)) {
      return Eigen::VectorXd::Constant(n_, scale);  // no forcing, or not a number
    }
    forcing_ = h_ / scale * forcing;
    for (Eigen::Index p = 0; p < powers; ++p) {
      forcing_.col(p) *= factorial[p];
    }
    Eigen::VectorXd z = Eigen::VectorXd::Zero(n_ + powers);
    z[n_] = 1.0;
    int done = 0;
    while (done < parts_ && advance(z)) {
      ++done;
    }
    if (done == parts_) {
      return scale * z.head(n_);
    }
    if (parts_ >= most_parts) {
      break;
    }
    parts_ *= 2;
    factorise();
  }
  return Eigen::VectorXd::Constant(n_, unknown);
}

}  // namespace concord
