#include "coupling/problem/elimination.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <vector>

namespace concord {

namespace {

/// Only where entries are: numbers would take most of the memory.
using Pattern = Eigen::SparseMatrix<char, Eigen::ColMajor, PetscInt>;

/// Of A^T, whose columns are PETSc's rows.
Pattern pattern_of(Mat matrix) {
  PetscInt n = 0;
  const PetscInt* rows = nullptr;
  const PetscInt* columns = nullptr;
  PetscBool there = PETSC_FALSE;
  petsc(MatGetRowIJ(matrix, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows, &columns, &there));
  const std::vector<char> values(static_cast<std::size_t>(rows[n]), 1);
  const Pattern result = Eigen::Map<const Pattern>(n, n, rows[n], rows, columns, values.data());
  petsc(MatRestoreRowIJ(matrix, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows, &columns, &there));
  return result;
}

/// P (A + A^T) P^T, P of minimum degree.
Pattern in_order_of_elimination(const Pattern& a) {
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, PetscInt> inverse;
  Eigen::AMDOrdering<PetscInt>()(a, inverse);
  const Pattern symmetric = a + Pattern(a.transpose());
  Pattern result;
  result = symmetric.selfadjointView<Eigen::Lower>().twistedBy(inverse.inverse());
  return result;
}

/// c entries below the diagonal in a column of the factors: c divisions, c^2 products and sums.
/// Row by row along the elimination tree (Liu 1990). `enough`: so many columns' entries make at
/// least that number of operations, and are counted no further. `fill`: number of entries.
Elimination factors_of(const Pattern& symmetric, double enough) {
  const auto n = static_cast<std::size_t>(symmetric.cols());
  std::vector<std::size_t> parent(n, n), seen_by(n, n);
  std::vector<double> below(n, 0.0);
  double entries = 0.0;
  for (std::size_t row = 0; row < n; ++row) {
    seen_by[row] = row;
    for (Pattern::InnerIterator entry(symmetric, static_cast<Eigen::Index>(row)); entry; ++entry) {
      auto column = static_cast<std::size_t>(entry.index());
      for (; column < row && seen_by[column] != row; column = parent[column]) {
        if (parent[column] == n) parent[column] = row;
        seen_by[column] = row;
        ++below[column];
        ++entries;
      }
    }
    const double least = 2.0 * entries * entries / static_cast<double>(n);
    if (least > enough) return {.operations = least};
  }
  double operations = 0.0;
  for (const double count : below) operations += count * (2.0 * count + 1.0);
  return {.operations = operations, .fill = 2.0 * entries + static_cast<double>(n)};
}

}  // namespace

Elimination elimination_of(Mat matrix) {
  const Pattern pattern = pattern_of(matrix);
  const auto entries = static_cast<double>(pattern.nonZeros());
  const double product = 2.0 * entries;
  Elimination result =
      factors_of(in_order_of_elimination(pattern), Elimination::as_many_products * product);
  result.product = product;
  result.fill /= entries;
  return result;
}

}  // namespace concord
