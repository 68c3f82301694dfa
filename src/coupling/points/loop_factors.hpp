#pragma once

#include <Eigen/LU>
#include <Eigen/SparseLU>
#include <memory>
#include <span>
#include <vector>

namespace concord {

/// Factors of a loop's Jacobian I - P D, after its rows and columns were scaled (MatchedScales):
/// what units its variables have doesn't count.
class LoopFactors {
 public:
  /// The matrix by rows, compressed. False where it is singular to rounding.
  bool compute(const std::vector<std::size_t>& row_starts, const std::vector<std::size_t>& columns,
               std::span<const double> values);

  /// Sign of the determinant; 0 where it is singular to rounding.
  int sign() const { return sign_; }

  /// Before the first `compute`, and where it has failed.
  bool empty() const { return sign_ == 0; }

  /// x = A^-1 b.
  void solve(std::span<const double> b, std::span<double> x) const;

 private:
  bool equilibrate(const std::vector<std::size_t>& row_starts,
                   const std::vector<std::size_t>& columns, std::span<const double> values);
  void factor_dense();
  void factor_sparse();

  int sign_ = 0;
  Eigen::VectorXd row_scale_, column_scale_;
  Eigen::SparseMatrix<double> scaled_;
  std::unique_ptr<Eigen::FullPivLU<Eigen::MatrixXd>> dense_;
  std::unique_ptr<Eigen::SparseLU<Eigen::SparseMatrix<double>>> sparse_;
};

}  // namespace concord
