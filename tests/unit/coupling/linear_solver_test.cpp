// The interface's linear solvers by default, on one rank and on several.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "coupling/problem/elimination.hpp"
#include "coupling/problem/linear_solver_defaults.hpp"
#include "support/agreement.hpp"
#include "support/ranks.hpp"

namespace concord::test {
namespace linear_solver_test {

constexpr PetscInt rows = 1200;

/// I - gain P, with P of one entry in each row and `source`, or of several.
MatHandle network(const std::vector<PetscInt>& source, double gain) {
  const auto each = static_cast<PetscInt>(source.size()) / rows;
  MatHandle matrix;
  PetscInt first = 0, last = 0;
  petsc(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, rows, each + 1, nullptr,
                     each + 1, nullptr, matrix.out()));
  petsc(MatGetOwnershipRange(matrix, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    petsc(MatSetValue(matrix, row, row, 1.0, ADD_VALUES));
    for (PetscInt e = row; e < each * rows; e += rows) {
      petsc(MatSetValue(matrix, row, source[static_cast<std::size_t>(e)], -gain, ADD_VALUES));
    }
  }
  petsc(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  petsc(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  return matrix;
}

struct Solved {
  bool done;
  double error;
  PetscInt iterations;
};

Solved solved(Mat matrix) {
  VecHandle exact, right_side, unknown;
  petsc(MatCreateVecs(matrix, exact.out(), right_side.out()));
  petsc(VecDuplicate(exact, unknown.out()));
  PetscInt first = 0, last = 0;
  petsc(VecGetOwnershipRange(exact, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    petsc(VecSetValue(exact, row, std::sin(static_cast<double>(row * row)), INSERT_VALUES));
  }
  petsc(VecAssemblyBegin(exact));
  petsc(VecAssemblyEnd(exact));
  petsc(MatMult(matrix, exact, right_side));
  const KspHandle ksp = linear_solver(matrix, Diagonal::full);
  Solved result{};
  result.done = solve(ksp, matrix, right_side, unknown);
  petsc(KSPGetIterationNumber(ksp, &result.iterations));
  petsc(VecAXPY(unknown, -1.0, exact));
  petsc(VecNorm(unknown, NORM_INFINITY, &result.error));
  return result;
}

TEST(ImplicitLinearSolver, TakesFewIterationsWhereNeighboursCouple) {
  std::vector<PetscInt> neighbour(rows);
  for (PetscInt row = 0; row < rows; ++row)
    neighbour[static_cast<std::size_t>(row)] = (row + 1) % rows;
  const Solved chain = solved(network(neighbour, 0.5));
  EXPECT_TRUE(chain.done);
  EXPECT_LT(chain.error, 1e-11);
  EXPECT_LE(chain.iterations, ranks_of(PETSC_COMM_WORLD));
}

/// Random neighbours: factors are nearly full, and a few iterations will do.
TEST(ImplicitLinearSolver, IteratesWhereFactorsFillUp) {
  std::vector<PetscInt> anywhere(3 * rows);
  std::minstd_rand random(7);
  for (PetscInt& source : anywhere) {
    source = static_cast<PetscInt>(random() % static_cast<unsigned>(rows));
  }
  const Solved filled = solved(network(anywhere, 0.1));
  EXPECT_TRUE(filled.done);
  EXPECT_LT(filled.error, 1e-11);
  EXPECT_GT(filled.iterations, 1);
  EXPECT_LE(filled.iterations, 20);
}

/// In a chain each column has one entry below the diagonal; a full matrix has c in the c-th to
/// last.
TEST(ImplicitLinearSolver, CountsOperationsOfFactors) {
  constexpr PetscInt n = 60;
  for (const PetscInt band : {1, n}) {
    MatHandle matrix;
    petsc(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, n, nullptr, matrix.out()));
    for (PetscInt i = 0; i < n; ++i) {
      for (PetscInt j = std::max(0, i - band); j <= std::min(n - 1, i + band); ++j) {
        petsc(MatSetValue(matrix, i, j, 1.0, INSERT_VALUES));
      }
    }
    petsc(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    petsc(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    double operations = 0.0;
    for (PetscInt below = 0; below < n; ++below) {
      const double entries = std::min(below, band);
      operations += entries * (2.0 * entries + 1.0);
    }
    const Elimination counted = elimination_of(matrix);
    EXPECT_DOUBLE_EQ(counted.operations, operations);
    EXPECT_TRUE(counted.is_cheap());
  }
}

/// Eigenvalues all around a circle that nearly meets 0: no Krylov method gets far in a few
/// iterations.
TEST(ImplicitLinearSolver, GoesOverToFactorsWhereEverythingCouples) {
  std::vector<PetscInt> anywhere(rows);
  std::iota(anywhere.begin(), anywhere.end(), 0);
  std::shuffle(anywhere.begin(), anywhere.end(), std::minstd_rand(7));
  const Solved tangle = solved(network(anywhere, 0.95));
  EXPECT_TRUE(tangle.done);
  EXPECT_LT(tangle.error, 1e-9);
  EXPECT_EQ(tangle.iterations, 1);
}

/// [0 1; 1 3] many times over, without the one in row `empty`.
MatHandle saddles(PetscInt pairs, PetscInt empty) {
  MatHandle matrix;
  PetscInt first = 0, last = 0;
  petsc(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 2 * pairs, 2 * pairs, 2, nullptr,
                     2, nullptr, matrix.out()));
  petsc(MatGetOwnershipRange(matrix, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt other = row % 2 == 0 ? row + 1 : row - 1;
    petsc(MatSetValue(matrix, row, row, row % 2 == 0 ? 0.0 : 3.0, INSERT_VALUES));
    petsc(MatSetValue(matrix, row, other, row == empty ? 0.0 : 1.0, INSERT_VALUES));
  }
  petsc(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  petsc(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  return matrix;
}

/// A row without entries cannot be solved for, which every rank says, again and again until the
/// matrix is another; KLU's and MUMPS' sizes.
TEST(ImplicitLinearSolver, SaysThatAMatrixIsSingular) {
  for (const PetscInt pairs : {20, 400}) {
    const MatHandle regular = saddles(pairs, -1), singular = saddles(pairs, 8),
                    changing = saddles(pairs, 8);
    VecHandle exact, right_side, unknown;
    petsc(MatCreateVecs(regular, exact.out(), right_side.out()));
    petsc(VecDuplicate(exact, unknown.out()));
    petsc(VecSet(exact, 0.5));
    petsc(MatMult(regular, exact, right_side));
    const KspHandle ksp = linear_solver(changing, Diagonal::with_zeros);
    for (const Mat now :
         {Mat(regular), Mat(singular), Mat(singular), Mat(regular), Mat(singular)}) {
      petsc(MatCopy(now, changing, SAME_NONZERO_PATTERN));
      const bool possible = now == Mat(regular);
      for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(solve(ksp, changing, right_side, unknown), possible);
      }
      if (possible) {
        double error = 0.0;
        petsc(VecAXPY(unknown, -1.0, exact));
        petsc(VecNorm(unknown, NORM_INFINITY, &error));
        EXPECT_LT(error, 1e-14);
      }
    }
  }
}

}  // namespace linear_solver_test
}  // namespace concord::test
