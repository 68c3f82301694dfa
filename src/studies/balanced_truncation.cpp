#include "studies/balanced_truncation.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <complex>
#include <string>

#include "concord/errors.hpp"
#include "studies/transfer.hpp"
#include "support/dense_decompositions.hpp"

namespace concord {
namespace {

using Dense = Eigen::MatrixXd;
using ComplexDense = Eigen::MatrixXcd;
using Complex = std::complex<double>;

/// X of T X + X S = C with T and S upper triangular, column by column (Bartels and Stewart 1972).
ComplexDense solved_sylvester(const ComplexDense& t, const ComplexDense& s, const ComplexDense& c) {
  ComplexDense x(t.rows(), s.cols());
  for (Eigen::Index j = 0; j < s.cols(); ++j) {
    ComplexDense shifted = t;
    shifted.diagonal().array() += s(j, j);
    x.col(j) = shifted.triangularView<Eigen::Upper>().solve(
        ComplexDense(c.col(j) - x.leftCols(j) * s.col(j).head(j)));
  }
  return x;
}

/// P of A P + P A^T + Q = 0, by the Schur form of A, which must have decaying modes only.
Dense solved_lyapunov(const Dense& a, const Dense& q) {
  const Eigen::ComplexSchur<Dense> schur(a);
  const ComplexDense& u = schur.matrixU();
  // T^H is lower triangular: with the order of its rows and columns turned round, upper.
  const ComplexDense turned = schur.matrixT().adjoint().reverse();
  const ComplexDense right = -(u.adjoint() * q.cast<Complex>() * u);
  const ComplexDense x = solved_sylvester(schur.matrixT(), turned, right.rowwise().reverse());
  const Dense p = (u * x.rowwise().reverse() * u.adjoint()).real();
  return 0.5 * (p + p.transpose());
}

/// F with F F^T = P; what rounding has made negative is 0.
Dense square_root(const Dense& p) {
  const SymmetricEigenPairs pairs = symmetric_eigen_pairs(p);
  return pairs.vectors * pairs.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

/// Exchanges neighbours on the diagonal of the triangular T, keeping U T U^H.
void exchange(ComplexDense& t, ComplexDense& u, Eigen::Index k) {
  Eigen::JacobiRotation<Complex> rotation;
  rotation.makeGivens(t(k, k + 1), t(k + 1, k + 1) - t(k, k));
  t.applyOnTheLeft(k, k + 1, rotation.adjoint());
  t.applyOnTheRight(k, k + 1, rotation);
  u.applyOnTheRight(k, k + 1, rotation);
  t(k + 1, k) = 0.0;
}

/// The system in coordinates in which the first states are those of decaying modes, and the others
/// do not act on them nor they on the others.
struct Split {
  StateSpace system;
  Eigen::Index decaying = 0;
};

/// Columns that span what a projector of this rank projects to.
Dense basis_of(const Dense& projector, Eigen::Index rank) {
  const Eigen::ColPivHouseholderQR<Dense> qr(projector);
  return (qr.householderQ() * Dense::Identity(projector.rows(), projector.rows())).leftCols(rank);
}

Split split(const StateSpace& system) {
  const Eigen::Index n = system.a.rows();
  const Modes modes = modes_of(system.a);
  const auto decays = [&](const Complex& value) {
    Eigen::Index nearest = 0;
    (modes.eigenvalues.array() - value).abs().minCoeff(&nearest);
    return modes.shown_eigenvalues()[nearest].real() < 0.0;
  };
  const Eigen::ComplexSchur<Dense> schur(system.a);
  ComplexDense t = schur.matrixT(), u = schur.matrixU();
  Split result{system, 0};
  for (Eigen::Index k = 0; k < n; ++k) {
    if (!decays(t(k, k))) continue;
    for (Eigen::Index i = k; i > result.decaying; --i) exchange(t, u, i - 1);
    ++result.decaying;
  }
  const Eigen::Index m = result.decaying;
  if (m == 0 || m == n) return result;
  const ComplexDense x = solved_sylvester(t.topLeftCorner(m, m), -t.bottomRightCorner(n - m, n - m),
                                          -t.topRightCorner(m, n - m));
  ComplexDense left(m, n);
  left << ComplexDense::Identity(m, m), -x;
  const Dense projector = (u.leftCols(m) * left * u.adjoint()).real();
  Dense coordinates(n, n);
  coordinates << basis_of(projector, m), basis_of(Dense::Identity(n, n) - projector, n - m);
  const Eigen::PartialPivLU<Dense> factors(coordinates);
  result.system = {factors.solve(system.a * coordinates), factors.solve(system.b),
                   system.c * coordinates, system.d};
  return result;
}

/// The largest singular value, which is that of the real matrix that does the same.
double norm_of(const ComplexDense& z) {
  Dense real(2 * z.rows(), 2 * z.cols());
  real << z.real(), -z.imag(), z.imag(), z.real();
  return singular_values(real).values[0];
}

double largest_difference(const StateSpace& system, const StateSpace& reduced) {
  const Eigen::VectorXcd values = modes_of(system.a).shown_eigenvalues();
  const TransferFunction whole(system), less(reduced);
  double largest = 0.0;
  for (const double frequency : frequency_grid({values.begin(), values.end()}, {})) {
    const ComplexDense difference = whole({0.0, frequency}) - less({0.0, frequency});
    if (difference.size() > 0 && difference.allFinite())
      largest = std::max(largest, norm_of(difference));
  }
  return largest;
}

}  // namespace

ReducedSystem balanced_truncation(const StateSpace& given, Eigen::Index order) {
  const Eigen::Index n = given.a.rows();
  if (order >= n)
    throw InputError("--reduce " + std::to_string(order) + " is no lower order than the " +
                     std::to_string(n) + " states that there are");
  const Split parts = split(balanced(given));
  const StateSpace& system = parts.system;
  const Eigen::Index m = parts.decaying;
  ReducedSystem result;
  result.kept = n - m;
  if (order < result.kept)
    throw InputError("--reduce " + std::to_string(order) + ": " + std::to_string(result.kept) +
                     " modes do not decay and are kept; take at least that order");
  const Dense a = system.a.topLeftCorner(m, m), b = system.b.topRows(m), c = system.c.leftCols(m);
  const Dense reached = square_root(solved_lyapunov(a, b * b.transpose()));
  const Dense seen = square_root(solved_lyapunov(a.transpose(), c.transpose() * c));
  const SingularValues svd = singular_values(seen.transpose() * reached);
  result.hankel = svd.values;
  const double rounding = m == 0 ? 0.0 : 1e-15 * result.hankel[0];
  Eigen::Index k = order - result.kept;
  while (k > 0 && !(result.hankel[k - 1] > rounding)) --k;  // what nothing reaches has no weight
  result.bound = 2.0 * result.hankel.tail(m - k).sum();
  const Eigen::VectorXd weights = result.hankel.head(k).cwiseSqrt().cwiseInverse();
  const Dense into = reached * svd.v.leftCols(k) * weights.asDiagonal();
  const Dense out_of = weights.asDiagonal() * svd.u.leftCols(k).transpose() * seen.transpose();
  const StateSpace decaying{a, b, c, system.d};
  const StateSpace less{out_of * a * into, out_of * b, c * into, system.d};
  result.error = largest_difference(decaying, less);
  StateSpace& reduced = result.system;
  const Eigen::Index size = k + result.kept;
  reduced.a = Dense::Zero(size, size);
  reduced.a.topLeftCorner(k, k) = less.a;
  reduced.a.bottomRightCorner(result.kept, result.kept) =
      system.a.bottomRightCorner(result.kept, result.kept);
  reduced.b.resize(size, system.b.cols());
  reduced.b << less.b, system.b.bottomRows(result.kept);
  reduced.c.resize(system.c.rows(), size);
  reduced.c << less.c, system.c.rightCols(result.kept);
  reduced.d = system.d;
  return result;
}

}  // namespace concord
