#pragma once

#include <Eigen/LU>
#include <Eigen/SparseLU>

namespace concord {

/// Eigen's factorisations, compiled once and not again in every room that solves something.

/// P A = L U of a square matrix.
class DenseFactors {
 public:
  DenseFactors();
  explicit DenseFactors(const Eigen::Ref<const Eigen::MatrixXd>& a);
  DenseFactors(const DenseFactors&);
  DenseFactors(DenseFactors&&) noexcept;
  DenseFactors& operator=(const DenseFactors&);
  DenseFactors& operator=(DenseFactors&&) noexcept;
  ~DenseFactors();

  void compute(const Eigen::Ref<const Eigen::MatrixXd>& a);

  /// A^-1 b, of a vector or of columns.
  template <class Derived>
  auto solve(const Eigen::MatrixBase<Derived>& b) const {
    if constexpr (Derived::ColsAtCompileTime == 1)
      return solve_vector(b);
    else
      return solve_columns(b);
  }
  /// Without allocating.
  void solve(const Eigen::Ref<const Eigen::VectorXd>& b, Eigen::Ref<Eigen::VectorXd> x) const;

  Eigen::MatrixXd inverse() const;
  /// An estimate of 1 / (|A| |A^-1|) in the norm of columns' sums.
  double rcond() const;

 private:
  Eigen::VectorXd solve_vector(const Eigen::Ref<const Eigen::VectorXd>& b) const;
  Eigen::MatrixXd solve_columns(const Eigen::Ref<const Eigen::MatrixXd>& b) const;

  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
};

/// P A Q = L U, the largest entry of all that is left as pivot: tells the rank.
class RankFactors {
 public:
  explicit RankFactors(const Eigen::MatrixXd& a);

  /// Pivots below this share of the largest count as 0; rounding's by default.
  void set_threshold(double share) { lu_.setThreshold(share); }
  bool is_invertible() const;
  Eigen::VectorXd pivots() const { return lu_.matrixLU().diagonal(); }
  /// Of P and Q together.
  int sign_of_permutations() const;

  Eigen::MatrixXd solve(const Eigen::MatrixXd& b) const;
  Eigen::VectorXd solve(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd inverse() const;
  double rcond() const;
  /// Columns that A takes to 0.
  Eigen::MatrixXd kernel() const;

 private:
  Eigen::FullPivLU<Eigen::MatrixXd> lu_;
};

/// P A Q = L U of a sparse square matrix.
class SparseFactors {
 public:
  using Matrix = Eigen::SparseMatrix<double>;

  SparseFactors();
  explicit SparseFactors(const Matrix& a);
  ~SparseFactors();

  /// False where it is singular.
  bool compute(const Matrix& a);
  bool succeeded() const { return lu_.info() == Eigen::Success; }
  int sign_of_determinant();

  Eigen::VectorXd solve(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd solve(const Eigen::MatrixXd& b) const;
  Matrix solve(const Matrix& b) const;

 private:
  Eigen::SparseLU<Matrix> lu_;
};

/// x of least length among those with the least |A x - b|, column by column.
Eigen::MatrixXd least_squares_solution(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// Orthonormal columns of which the first k span what the first k of A's span, as many as A has
/// rows.
Eigen::MatrixXd orthonormal_basis(const Eigen::MatrixXd& a);
/// The same of A's columns in the order in which they stand out.
Eigen::MatrixXd pivoted_basis(const Eigen::MatrixXd& a);

}  // namespace concord
