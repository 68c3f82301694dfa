#include "coupling/problem/elimination.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <cstdint>
#include <vector>

namespace concord {

namespace {

using Pattern = Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t>;

/// Only the counts of its analysis are of use here.
class ColumnCounts
    : public Eigen::SimplicialLDLT<Pattern, Eigen::Lower, Eigen::AMDOrdering<std::int64_t>> {
 public:
  explicit ColumnCounts(const Pattern& symmetric) { analyzePattern(symmetric); }

  /// Below the diagonal c entries: c divisions and c^2 products and sums.
  double operations() const {
    double sum = 0.0;
    for (Eigen::Index j = 0; j < m_nonZerosPerCol.size(); ++j) {
      const auto below = static_cast<double>(m_nonZerosPerCol[j]);
      sum += below * (2.0 * below + 1.0);
    }
    return sum;
  }
};

Pattern pattern_of(Mat matrix) {
  PetscInt n = 0;
  const PetscInt* rows = nullptr;
  const PetscInt* columns = nullptr;
  PetscBool there = PETSC_FALSE;
  petsc(MatGetRowIJ(matrix, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows, &columns, &there));
  std::vector<Eigen::Triplet<double, std::int64_t>> entries;
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt e = rows[i]; e < rows[i + 1]; ++e) {
      entries.emplace_back(i, columns[e], 1.0);
      entries.emplace_back(columns[e], i, 1.0);
    }
  }
  Pattern result(n, n);
  petsc(MatRestoreRowIJ(matrix, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows, &columns, &there));
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

}  // namespace

Elimination elimination_of(Mat matrix) {
  MatInfo info;
  petsc(MatGetInfo(matrix, MAT_LOCAL, &info));
  return {ColumnCounts(pattern_of(matrix)).operations(), 2.0 * info.nz_used};
}

}  // namespace concord
