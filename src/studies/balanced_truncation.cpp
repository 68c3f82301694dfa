#include "studies/balanced_truncation.hpp"

#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "concord/errors.hpp"
#include "studies/transfer.hpp"
#include "support/dense_decompositions.hpp"
#include "support/factorizations.hpp"

namespace concord {
namespace {

using Dense = Eigen::MatrixXd;
using Complex = std::complex<double>;

/// P of A P + P A^T + Q = 0, A having decaying modes only.
Dense solved_lyapunov(const Dense& a, const Dense& q) {
  const SchurForm schur = schur_form(a);
  const Dense right = -(schur.q.transpose() * q * schur.q);
  const Dense x = solved_sylvester(Sylvester::sum_transposed, schur.t, schur.t, right);
  const Dense p = schur.q * x * schur.q.transpose();
  return 0.5 * (p + p.transpose());
}

/// F with F F^T = P; what rounding has made negative is 0.
Dense square_root(const Dense& p) {
  const SymmetricEigenPairs pairs = symmetric_eigen_pairs(p);
  return pairs.vectors * pairs.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

/// The system in coordinates in which the first states are those of decaying modes, and the others
/// do not act on them nor they on the others.
struct Split {
  StateSpace system;
  Eigen::Index decaying = 0;
};

/// Columns that span what a projector of this rank projects to.
Dense basis_of(const Dense& projector, Eigen::Index rank) {
  return pivoted_basis(projector).leftCols(rank);
}

Split split(const StateSpace& system) {
  const Eigen::Index n = system.a.rows();
  const Modes modes = modes_of(system.a);
  const auto decays = [&](const Complex& value) {
    const Complex upper(value.real(), std::abs(value.imag()));
    Eigen::Index nearest = 0;
    (modes.eigenvalues.array() - upper).abs().minCoeff(&nearest);
    return modes.shown_eigenvalues()[nearest].real() < 0.0;
  };
  SchurForm schur = schur_form(system.a);
  std::vector<bool> on_top;
  for (const Complex& value : schur.values) on_top.push_back(decays(value));
  Split result{system, std::ranges::count(on_top, true)};
  const Eigen::Index m = result.decaying;
  if (m == 0 || m == n) return result;
  schur.bring_to_top(on_top);
  const auto& t = schur.t;
  const Dense x = solved_sylvester(Sylvester::difference, t.topLeftCorner(m, m),
                                   t.bottomRightCorner(n - m, n - m), -t.topRightCorner(m, n - m));
  Dense left(m, n);
  left << Dense::Identity(m, m), -x;
  const Dense projector = schur.q.leftCols(m) * left * schur.q.transpose();
  Dense coordinates(n, n);
  coordinates << basis_of(projector, m), basis_of(Dense::Identity(n, n) - projector, n - m);
  const DenseFactors factors(coordinates);
  result.system = {factors.solve(system.a * coordinates), factors.solve(system.b),
                   system.c * coordinates, system.d};
  return result;
}

/// The largest singular value, which is that of the real matrix that does the same.
double norm_of(const Eigen::MatrixXcd& z) {
  Dense real(2 * z.rows(), 2 * z.cols());
  real << z.real(), -z.imag(), z.imag(), z.real();
  return singular_values(real).values[0];
}

double largest_difference(const StateSpace& system, const StateSpace& reduced) {
  const Eigen::VectorXcd values = modes_of(system.a).shown_eigenvalues();
  const TransferFunction whole(system), less(reduced);
  double largest = 0.0;
  for (const double frequency : frequency_grid({values.begin(), values.end()}, {})) {
    const Eigen::MatrixXcd difference = whole({0.0, frequency}) - less({0.0, frequency});
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
