#include "support/factorizations.hpp"

#include <Eigen/QR>

namespace concord {

using Eigen::MatrixXd;
using Eigen::VectorXd;

DenseFactors::DenseFactors() = default;
DenseFactors::DenseFactors(const Eigen::Ref<const MatrixXd>& a) : lu_(a) {}
DenseFactors::DenseFactors(const DenseFactors&) = default;
DenseFactors::DenseFactors(DenseFactors&&) noexcept = default;
DenseFactors& DenseFactors::operator=(const DenseFactors&) = default;
DenseFactors& DenseFactors::operator=(DenseFactors&&) noexcept = default;
DenseFactors::~DenseFactors() = default;

void DenseFactors::compute(const Eigen::Ref<const MatrixXd>& a) { lu_.compute(a); }

VectorXd DenseFactors::solve_vector(const Eigen::Ref<const VectorXd>& b) const {
  return lu_.solve(b);
}

MatrixXd DenseFactors::solve_columns(const Eigen::Ref<const MatrixXd>& b) const {
  return lu_.solve(b);
}

void DenseFactors::solve(const Eigen::Ref<const VectorXd>& b, Eigen::Ref<VectorXd> x) const {
  x = lu_.solve(b);
}

MatrixXd DenseFactors::inverse() const { return lu_.inverse(); }
double DenseFactors::rcond() const { return lu_.rcond(); }

RankFactors::RankFactors(const MatrixXd& a) : lu_(a) {}
bool RankFactors::is_invertible() const { return lu_.isInvertible(); }

int RankFactors::sign_of_permutations() const {
  return static_cast<int>(lu_.permutationP().determinant() * lu_.permutationQ().determinant());
}

MatrixXd RankFactors::solve(const MatrixXd& b) const { return lu_.solve(b); }
VectorXd RankFactors::solve(const VectorXd& b) const { return lu_.solve(b); }
MatrixXd RankFactors::inverse() const { return lu_.inverse(); }
double RankFactors::rcond() const { return lu_.rcond(); }
MatrixXd RankFactors::kernel() const { return lu_.kernel(); }

SparseFactors::SparseFactors() = default;
SparseFactors::SparseFactors(const Matrix& a) : lu_(a) {}
SparseFactors::~SparseFactors() = default;

bool SparseFactors::compute(const Matrix& a) {
  lu_.compute(a);
  return succeeded();
}

int SparseFactors::sign_of_determinant() { return static_cast<int>(lu_.signDeterminant()); }
VectorXd SparseFactors::solve(const VectorXd& b) const { return lu_.solve(b); }
MatrixXd SparseFactors::solve(const MatrixXd& b) const { return lu_.solve(b); }
SparseFactors::Matrix SparseFactors::solve(const Matrix& b) const { return lu_.solve(b); }

MatrixXd least_squares_solution(const MatrixXd& a, const MatrixXd& b) {
  return Eigen::CompleteOrthogonalDecomposition<MatrixXd>(a).solve(b);
}

MatrixXd orthonormal_basis(const MatrixXd& a) {
  return Eigen::HouseholderQR<MatrixXd>(a).householderQ();
}

MatrixXd pivoted_basis(const MatrixXd& a) {
  return Eigen::ColPivHouseholderQR<MatrixXd>(a).householderQ();
}

}  // namespace concord
