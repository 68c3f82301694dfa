#include "simulation/undetermined.hpp"

#include <algorithm>
#include <cmath>

#include "support/factorizations.hpp"

namespace concord {
namespace {

using Index = Eigen::Index;
constexpr Index unmatched = -1;

/// Pairs of rows and columns with an entry, as many as there can be.
class Matching {
 public:
  explicit Matching(const Eigen::MatrixXd& matrix)
      : matrix_(matrix), column_of(matrix.rows(), unmatched), row_of(matrix.cols(), unmatched) {
    for (Index row = 0; row < matrix.rows(); ++row) {
      seen_.assign(static_cast<std::size_t>(matrix.cols()), 0);
      augment(row);
    }
  }

  /// Rows and columns that can be reached from this row by ways that alternate.
  void reach_from_row(Index row, std::vector<Index>& rows, std::vector<Index>& columns) const {
    rows.push_back(row);
    for (std::size_t at = 0; at < rows.size(); ++at)
      for (Index column = 0; column < matrix_.cols(); ++column) {
        if (matrix_(rows[at], column) == 0.0 || contains(columns, column)) continue;
        columns.push_back(column);
        rows.push_back(row_of[static_cast<std::size_t>(column)]);
      }
  }

  void reach_from_column(Index column, std::vector<Index>& rows,
                         std::vector<Index>& columns) const {
    columns.push_back(column);
    for (std::size_t at = 0; at < columns.size(); ++at)
      for (Index row = 0; row < matrix_.rows(); ++row) {
        if (matrix_(row, columns[at]) == 0.0 || contains(rows, row)) continue;
        rows.push_back(row);
        columns.push_back(column_of[static_cast<std::size_t>(row)]);
      }
  }

  Index unmatched_row() const { return first_unmatched(column_of); }
  Index unmatched_column() const { return first_unmatched(row_of); }

 private:
  static bool contains(const std::vector<Index>& all, Index one) {
    return std::ranges::find(all, one) != all.end();
  }
  static Index first_unmatched(const std::vector<Index>& all) {
    const auto found = std::ranges::find(all, unmatched);
    return found == all.end() ? unmatched : found - all.begin();
  }

  bool augment(Index row) {
    for (Index column = 0; column < matrix_.cols(); ++column) {
      char& seen = seen_[static_cast<std::size_t>(column)];
      Index& owner = row_of[static_cast<std::size_t>(column)];
      if (matrix_(row, column) == 0.0 || seen != 0) continue;
      seen = 1;
      if (owner != unmatched && !augment(owner)) continue;
      owner = row;
      column_of[static_cast<std::size_t>(row)] = column;
      return true;
    }
    return false;
  }

  const Eigen::MatrixXd& matrix_;
  std::vector<Index> column_of, row_of;
  std::vector<char> seen_;
};

std::vector<Index> taking_part(const Eigen::VectorXd& weights) {
  constexpr double part = 1e-3;
  std::vector<Index> result;
  for (Index i = 0; i < weights.size(); ++i)
    if (std::abs(weights[i]) > part * weights.cwiseAbs().maxCoeff()) result.push_back(i);
  return result;
}

}  // namespace

std::optional<Undetermined> structurally_undetermined(const Eigen::MatrixXd& matrix) {
  const Matching matching(matrix);
  if (matching.unmatched_row() == unmatched) return std::nullopt;
  Undetermined result;
  matching.reach_from_row(matching.unmatched_row(), result.many_equations, result.few_unknowns);
  matching.reach_from_column(matching.unmatched_column(), result.few_equations,
                             result.many_unknowns);
  return result;
}

std::optional<Dependent> dependent(const Eigen::MatrixXd& matrix) {
  constexpr double least = 1e-12;
  if (matrix.size() == 0) return std::nullopt;
  Eigen::MatrixXd scaled = matrix;
  for (Index i = 0; i < scaled.rows(); ++i)
    scaled.row(i) /= std::max(scaled.row(i).cwiseAbs().maxCoeff(), 1e-300);
  for (Index j = 0; j < scaled.cols(); ++j)
    scaled.col(j) /= std::max(scaled.col(j).cwiseAbs().maxCoeff(), 1e-300);
  if (DenseFactors(scaled).rcond() > least) return std::nullopt;
  const auto kernel = [](const Eigen::MatrixXd& of) {
    RankFactors parts(of);
    parts.set_threshold(1e3 * least);
    return Eigen::VectorXd(parts.kernel().col(0).normalized());
  };
  return Dependent{taking_part(kernel(scaled.transpose())), taking_part(kernel(scaled))};
}

}  // namespace concord
