#include "coupling/loop_factors.hpp"

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

/// The last pivot beside the first below which a matrix of entries up to one counts as singular.
constexpr double singular_pivot = 1e-12;

/// Rows up to which complete pivoting costs nothing.
constexpr Eigen::Index most_dense_rows = 64;

}  // namespace

void LoopFactors::equilibrate(const std::vector<std::size_t>& row_starts,
                              const std::vector<std::size_t>& columns,
                              std::span<const double> values) {
  const auto n = static_cast<Eigen::Index>(row_starts.size() - 1);
  row_scale_ = column_scale_ = Eigen::VectorXd::Ones(n);
  const auto each = [&](const auto& visit) {
    for (Eigen::Index row = 0; row < n; ++row) {
      for (auto e = row_starts[static_cast<std::size_t>(row)];
           e < row_starts[static_cast<std::size_t>(row) + 1]; ++e) {
        const auto column = static_cast<Eigen::Index>(columns[e]);
        visit(row, column, row_scale_[row] * values[e] * column_scale_[column]);
      }
    }
  };
  constexpr int passes = 12;
  for (int pass = 0; pass < passes; ++pass) {
    Eigen::VectorXd rows = Eigen::VectorXd::Zero(n), cols = Eigen::VectorXd::Zero(n);
    each([&](Eigen::Index row, Eigen::Index column, double value) {
      rows[row] = std::max(rows[row], std::abs(value));
      cols[column] = std::max(cols[column], std::abs(value));
    });
    const auto inverse_root = [](double largest) {
      return largest > 0.0 ? 1.0 / std::sqrt(largest) : 1.0;
    };
    row_scale_.array() *= rows.unaryExpr(inverse_root).array();
    column_scale_.array() *= cols.unaryExpr(inverse_root).array();
  }
  std::vector<Eigen::Triplet<double>> entries;
  each([&](Eigen::Index row, Eigen::Index column, double value) {
    entries.emplace_back(static_cast<int>(row), static_cast<int>(column), value);
  });
  scaled_.resize(n, n);
  scaled_.setFromTriplets(entries.begin(), entries.end());
}

void LoopFactors::factor_dense() {
  dense_ = std::make_unique<Eigen::FullPivLU<Eigen::MatrixXd>>(Eigen::MatrixXd(scaled_));
  const auto pivots = dense_->matrixLU().diagonal();
  const double smallest = pivots.cwiseAbs().minCoeff();
  if (!(smallest > singular_pivot * pivots.cwiseAbs().maxCoeff())) {
    return;
  }
  const auto negative = (pivots.array() < 0.0).count();
  const auto swaps = dense_->permutationP().determinant() * dense_->permutationQ().determinant();
  sign_ = (negative % 2 == 0 ? 1 : -1) * static_cast<int>(swaps);
}

void LoopFactors::factor_sparse() {
  scaled_.makeCompressed();
  sparse_ = std::make_unique<Eigen::SparseLU<Eigen::SparseMatrix<double>>>(scaled_);
  if (sparse_->info() == Eigen::Success) {
    sign_ = static_cast<int>(sparse_->signDeterminant());
  }
}

bool LoopFactors::compute(const std::vector<std::size_t>& row_starts,
                          const std::vector<std::size_t>& columns, std::span<const double> values) {
  sign_ = 0;
  dense_.reset();
  sparse_.reset();
  equilibrate(row_starts, columns, values);
  if (scaled_.rows() <= most_dense_rows) {
    factor_dense();
  } else {
    factor_sparse();
  }
  return sign_ != 0;
}

void LoopFactors::solve(std::span<const double> b, std::span<double> x) const {
  const auto n = row_scale_.size();
  const Eigen::VectorXd right =
      row_scale_.cwiseProduct(Eigen::Map<const Eigen::VectorXd>(b.data(), n));
  const Eigen::VectorXd solution =
      dense_ ? Eigen::VectorXd(dense_->solve(right)) : Eigen::VectorXd(sparse_->solve(right));
  Eigen::Map<Eigen::VectorXd>(x.data(), n) = column_scale_.cwiseProduct(solution);
}

}  // namespace concord
