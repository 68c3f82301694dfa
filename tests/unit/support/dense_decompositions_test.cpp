#include "support/dense_decompositions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace concord {
namespace {

using Eigen::MatrixXd;

/// Entries that no structure is in, between -1 and 1.
MatrixXd matrix(Eigen::Index rows, Eigen::Index columns) {
  MatrixXd result(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < columns; ++j)
      result(i, j) = std::sin(static_cast<double>(1 + 7 * i + 3 * j * j + 5 * i * j));
  return result;
}

TEST(DenseDecompositions, EigenvectorsRealAndComplex) {
  MatrixXd turns(3, 3);  // i, -i and 2
  turns << 0, -1, 0, 1, 0, 0, 0, 0, 2;
  for (const MatrixXd& a : {matrix(7, 7), turns}) {
    const EigenPairs pairs = eigen_pairs(a);
    EXPECT_LT((a * pairs.vectors - pairs.vectors * pairs.values.asDiagonal()).norm(), 1e-12);
    EXPECT_LT((pairs.vectors.colwise().norm().array() - 1.0).abs().maxCoeff(), 1e-14);
    EXPECT_GT(pairs.values.imag().cwiseAbs().maxCoeff(), 0.1);
    const Eigen::VectorXcd alone = eigenvalues(a);
    for (const auto& value : pairs.values)
      EXPECT_LT((alone.array() - value).abs().minCoeff(), 1e-13);
    EXPECT_LT(std::abs(pairs.values.sum() - a.trace()), 1e-13);
  }
}

TEST(DenseDecompositions, OfSymmetricMatricesAscending) {
  const MatrixXd b = matrix(6, 6), a = b + b.transpose();
  const SymmetricEigenPairs pairs = symmetric_eigen_pairs(a);
  EXPECT_TRUE(std::ranges::is_sorted(pairs.values));
  EXPECT_LT((pairs.vectors * pairs.values.asDiagonal() * pairs.vectors.transpose() - a).norm(),
            1e-13);
  EXPECT_LT((pairs.vectors.transpose() * pairs.vectors - MatrixXd::Identity(6, 6)).norm(), 1e-13);
}

TEST(DenseDecompositions, SingularValuesOfTallAndWide) {
  for (const MatrixXd& a : {matrix(7, 4), matrix(4, 7), matrix(1, 1)}) {
    const SingularValues svd = singular_values(a);
    EXPECT_EQ(svd.values.size(), std::min(a.rows(), a.cols()));
    EXPECT_TRUE(std::ranges::is_sorted(svd.values, std::ranges::greater()));
    EXPECT_LT((svd.u * svd.values.asDiagonal() * svd.v.transpose() - a).norm(), 1e-13);
  }
}

TEST(DenseDecompositions, NothingOfNothing) {
  EXPECT_EQ(eigen_pairs(MatrixXd(0, 0)).values.size(), 0);
  EXPECT_EQ(symmetric_eigen_pairs(MatrixXd(0, 0)).values.size(), 0);
  EXPECT_EQ(singular_values(MatrixXd(0, 3)).values.size(), 0);
}

TEST(DenseDecompositions, WhatIsNotFiniteIsUnknown) {
  MatrixXd a = matrix(3, 3);
  a(1, 2) = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(eigenvalues(a)[0].real()));
  EXPECT_TRUE(std::isnan(symmetric_eigen_pairs(a).values[0]));
  EXPECT_TRUE(std::isnan(singular_values(a).values[0]));
}

}  // namespace
}  // namespace concord
