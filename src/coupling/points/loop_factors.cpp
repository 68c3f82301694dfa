#include "coupling/points/loop_factors.hpp"

#include "coupling/points/matched_scales.hpp"
#include "support/factorizations.hpp"

namespace concord {
namespace {

/// The last pivot beside the first below which a matrix of entries up to two counts as singular.
constexpr double singular_pivot = 1e-12;

/// Rows up to which complete pivoting costs nothing.
constexpr Eigen::Index most_dense_rows = 64;

}  // namespace

struct LoopFactors::Factors {
  bool equilibrate(const std::vector<std::size_t>& row_starts,
                   const std::vector<std::size_t>& columns, std::span<const double> values);
  /// Sign of the determinant; 0 where the matrix is singular to rounding.
  int factor();
  void solve(std::span<const double> b, std::span<double> x) const;

 private:
  int factor_dense();
  int factor_sparse();

  Eigen::VectorXd row_scale_, column_scale_;
  Eigen::SparseMatrix<double> scaled_;
  std::unique_ptr<RankFactors> dense_;
  std::unique_ptr<SparseFactors> sparse_;
};

bool LoopFactors::Factors::equilibrate(const std::vector<std::size_t>& row_starts,
                                       const std::vector<std::size_t>& columns,
                                       std::span<const double> values) {
  const auto scales = matched_scales(row_starts, columns, values);
  if (!scales) {
    return false;
  }
  const auto n = static_cast<Eigen::Index>(row_starts.size() - 1);
  row_scale_ = Eigen::Map<const Eigen::VectorXd>(scales->rows.data(), n);
  column_scale_ = Eigen::Map<const Eigen::VectorXd>(scales->columns.data(), n);
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(values.size());
  for (std::size_t row = 0; row + 1 < row_starts.size(); ++row) {
    for (std::size_t e = row_starts[row]; e < row_starts[row + 1]; ++e) {
      entries.emplace_back(static_cast<int>(row), static_cast<int>(columns[e]),
                           scales->rows[row] * values[e] * scales->columns[columns[e]]);
    }
  }
  scaled_.resize(n, n);
  scaled_.setFromTriplets(entries.begin(), entries.end());
  return true;
}

int LoopFactors::Factors::factor_dense() {
  dense_ = std::make_unique<RankFactors>(scaled_);
  const Eigen::VectorXd pivots = dense_->pivots();
  const double smallest = pivots.cwiseAbs().minCoeff();
  if (!(smallest > singular_pivot * pivots.cwiseAbs().maxCoeff())) {
    return 0;
  }
  const auto negative = (pivots.array() < 0.0).count();
  return (negative % 2 == 0 ? 1 : -1) * dense_->sign_of_permutations();
}

int LoopFactors::Factors::factor_sparse() {
  scaled_.makeCompressed();
  sparse_ = std::make_unique<SparseFactors>(scaled_);
  return sparse_->succeeded() ? sparse_->sign_of_determinant() : 0;
}

int LoopFactors::Factors::factor() {
  dense_.reset();
  sparse_.reset();
  return scaled_.rows() <= most_dense_rows ? factor_dense() : factor_sparse();
}

void LoopFactors::Factors::solve(std::span<const double> b, std::span<double> x) const {
  const auto n = row_scale_.size();
  const Eigen::VectorXd right =
      row_scale_.cwiseProduct(Eigen::Map<const Eigen::VectorXd>(b.data(), n));
  const Eigen::VectorXd solution = dense_ ? dense_->solve(right) : sparse_->solve(right);
  Eigen::Map<Eigen::VectorXd>(x.data(), n) = column_scale_.cwiseProduct(solution);
}

LoopFactors::LoopFactors() : factors_(std::make_unique<Factors>()) {}
LoopFactors::~LoopFactors() = default;

bool LoopFactors::compute(const std::vector<std::size_t>& row_starts,
                          const std::vector<std::size_t>& columns, std::span<const double> values) {
  sign_ = factors_->equilibrate(row_starts, columns, values) ? factors_->factor() : 0;
  return sign_ != 0;
}

void LoopFactors::solve(std::span<const double> b, std::span<double> x) const {
  factors_->solve(b, x);
}

}  // namespace concord
