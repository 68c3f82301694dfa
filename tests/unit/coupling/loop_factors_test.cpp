#include "coupling/points/loop_factors.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <random>

#include "coupling/points/matched_scales.hpp"

namespace concord {
namespace loop_factors_test {

/// Rows compressed; every entry that is 0 is left out.
struct Matrix {
  explicit Matrix(const Eigen::MatrixXd& dense) {
    for (Eigen::Index row = 0; row < dense.rows(); ++row) {
      for (Eigen::Index column = 0; column < dense.cols(); ++column) {
        if (dense(row, column) != 0.0) {
          columns.push_back(static_cast<std::size_t>(column));
          values.push_back(dense(row, column));
        }
      }
      starts.push_back(columns.size());
    }
  }
  std::vector<std::size_t> starts{0}, columns;
  std::vector<double> values;
};

/// The Jacobian of a direct constraint between two subsystems: inputs l_a, l_b, the unknown,
/// outputs p_a, p_b; its determinant is 1.3 * 2.1 + 0.7 * 1.7.
Eigen::MatrixXd constraint_loop(double p_b_of_l_b = 1.7) {
  Eigen::MatrixXd m(5, 5);
  m << 1.0, 0.0, -1.0, 0.0, 0.0,  //
      0.0, 1.0, -1.0, 0.0, 0.0,   //
      0.0, 0.0, 0.0, 1.3, 0.7,    //
      -2.1, 0.0, 0.0, 1.0, 0.0,   //
      0.0, -p_b_of_l_b, 0.0, 0.0, 1.0;
  return m;
}

/// Units from 1e-24 to 1e24, as products of two.
class Units {
 public:
  explicit Units(unsigned seed) : random_(seed) {}
  Eigen::VectorXd operator()(Eigen::Index n) {
    return Eigen::VectorXd::NullaryExpr(n, [&] { return std::pow(10.0, exponent_(random_)); });
  }

 private:
  std::mt19937 random_;
  std::uniform_real_distribution<double> exponent_{-24.0, 24.0};
};

TEST(LoopFactors, SolvesInAllUnits) {
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(5, 0.5, 2.5);
  const Eigen::VectorXd b = constraint_loop() * x;
  Units units(20261122);
  for (int trial = 0; trial < 200; ++trial) {
    const Eigen::VectorXd rows = units(5), columns = units(5);
    const Matrix m(rows.asDiagonal() * constraint_loop() * columns.cwiseInverse().asDiagonal());
    const Eigen::VectorXd right = rows.cwiseProduct(b);
    Eigen::VectorXd found(5);
    LoopFactors factors;
    ASSERT_TRUE(factors.compute(m.starts, m.columns, m.values)) << trial;
    EXPECT_EQ(factors.sign(), 1);
    factors.solve({right.data(), 5}, {found.data(), 5});
    EXPECT_LT((found.cwiseQuotient(columns) - x).cwiseAbs().maxCoeff(), 1e-13) << trial;
  }
}

TEST(LoopFactors, SingularInAllUnits) {
  constexpr double vanishing = -2.1 * 1.3 / 0.7;
  Units units(9);
  for (int trial = 0; trial < 200; ++trial) {
    const Matrix m(units(5).asDiagonal() * constraint_loop(vanishing) * units(5).asDiagonal());
    LoopFactors factors;
    EXPECT_FALSE(factors.compute(m.starts, m.columns, m.values)) << trial;
  }
}

TEST(LoopFactors, SingularPatternsAndValues) {
  LoopFactors factors;
  for (const double entry : {0.0, std::nan(""), HUGE_VAL}) {
    const std::vector<std::size_t> starts{0, 1, 2}, columns{0, 1};
    EXPECT_FALSE(factors.compute(starts, columns, std::vector<double>{1.0, entry}));
    EXPECT_TRUE(factors.empty());
  }
  Eigen::MatrixXd one_column(3, 3);
  one_column << 1, 2, 0, 3, 0, 0, 4, 0, 0;
  const Matrix m(one_column);
  EXPECT_FALSE(factors.compute(m.starts, m.columns, m.values));
}

/// The matching of largest product, here the one that no row would choose by itself.
TEST(MatchedScales, MatchingOfLargestProduct) {
  Eigen::MatrixXd dense(3, 3);
  dense << 8, 4, 0, 8, 1, 2, 4, 0, 1;
  const Matrix m(dense);
  const auto scales = matched_scales(m.starts, m.columns, m.values);
  ASSERT_TRUE(scales);
  const auto scaled = [&](int i, int j) {
    return scales->rows[static_cast<std::size_t>(i)] * dense(i, j) *
           scales->columns[static_cast<std::size_t>(j)];
  };
  EXPECT_EQ(scaled(0, 1) * scaled(1, 2) * scaled(2, 0), 1.0);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_LE(scaled(i, j), 1.0);
    }
  }
}

/// Random sparse matrices: no entry above 2, a product of the diagonal's entries that no other
/// matching exceeds, by trying all.
TEST(MatchedScales, AgainstAllMatchings) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(-30.0, 30.0), chance;
  for (int trial = 0; trial < 100; ++trial) {
    constexpr Eigen::Index n = 5;
    const Eigen::MatrixXd dense = Eigen::MatrixXd::NullaryExpr(n, n, [&] {
      const double value = std::exp2(std::round(exponent(random)));
      return chance(random) < 0.6 ? value : 0.0;
    });
    const Matrix m(dense);
    std::vector<Eigen::Index> order{0, 1, 2, 3, 4};
    double best = 0.0;
    do {
      double product = 1.0;
      for (Eigen::Index i = 0; i < n; ++i) {
        product *= dense(i, order[static_cast<std::size_t>(i)]);
      }
      best = std::max(best, product);
    } while (std::next_permutation(order.begin(), order.end()));
    const auto scales = matched_scales(m.starts, m.columns, m.values);
    ASSERT_EQ(scales.has_value(), best > 0.0) << trial;
    if (!scales) {
      continue;
    }
    const Eigen::Map<const Eigen::VectorXd> rows(scales->rows.data(), n),
        columns(scales->columns.data(), n);
    EXPECT_LE((rows.asDiagonal() * dense * columns.asDiagonal()).maxCoeff(), 1.0) << trial;
    EXPECT_EQ(rows.prod() * best * columns.prod(), 1.0) << trial;
  }
}

}  // namespace loop_factors_test
}  // namespace concord
