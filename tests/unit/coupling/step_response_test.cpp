#include "coupling/estimation/step_response.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "coupling/estimation/small_product.hpp"

namespace concord {
namespace step_response_test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Bit for bit what Eigen's kernel for large matrices gives, whichever is taken.
TEST(SmallProduct, IsThatOfAnySize) {
  for (const Eigen::Index n : {1, 2, 3, 5, 8, 15, 16, 17, 30}) {
    for (const Eigen::Index rows : {n, Eigen::Index(1), 2 * n + 1}) {
      MatrixXd matrix(rows, n);
      VectorXd vector(n), found(rows);
      for (Eigen::Index j = 0; j < n; ++j) {
        vector[j] = std::exp(std::sin(3.0 * static_cast<double>(j)));
        for (Eigen::Index i = 0; i < rows; ++i) {
          matrix(i, j) = std::cos(static_cast<double>(7 * i + 5 * j));
        }
      }
      for (Eigen::Index i = 0; i < rows; ++i) {
        found[i] = std::sin(static_cast<double>(i));
      }
      VectorXd expected = found;
      expected.noalias() += matrix * vector;
      add_product(matrix, vector, found);
      EXPECT_EQ(found, expected) << n << " columns, " << rows << " rows";
    }
  }
}

constexpr Shape quintic{0.3, -1.0, 0.5, 2.0, -0.7, 0.4};

struct System {
  MatrixXd a, b;
  VectorXd constant, ramp, slopes, curvatures;
  double h = 0.01;
};

/// Chains that end nowhere and oscillators, all of order one in units of one.
System in_units_of_one(Eigen::Index n) {
  System result{MatrixXd::Zero(n, n),
                MatrixXd(n, 2),
                VectorXd(n),
                VectorXd(n),
                VectorXd::Constant(2, 0.7),
                VectorXd::Constant(2, -0.3)};
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto k = static_cast<double>(i);
    result.a(i, i) = -1.0 - 0.3 * k;
    if (i > 0) result.a(i, i - 1) = 2.0 + std::sin(k);
    if (i % 3 == 2) result.a(i - 1, i) = -40.0;
    result.b.row(i) << 1.0 + std::sin(k), 0.7 - std::cos(k);
    result.constant[i] = std::cos(2.0 * k);
    result.ramp[i] = std::sin(2.0 * k);
  }
  return result;
}

/// Of 1e-12 to 1e12.
VectorXd random_units(Eigen::Index n) {
  VectorXd units(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    units[i] = std::pow(10.0, 12.0 * std::sin(5.0 + 7.0 * static_cast<double>(i)));
  }
  return units;
}

System scaled(const System& one, const VectorXd& units) {
  const auto inverse = units.cwiseInverse().asDiagonal();
  // x = units * x of one
  return {units.asDiagonal() * one.a * inverse,
          units.asDiagonal() * one.b,
          units.cwiseProduct(one.constant),
          units.cwiseProduct(one.ramp),
          one.slopes,
          one.curvatures,
          one.h};
}

template <class Matrix = MatrixXd>
MatrixXd responses(const System& system, Response response) {
  StepResponse step(response, 5);
  step.prepare(Matrix(system.a.sparseView()), system.b, system.h,
               {quintic, {0.0, 0.0, 0.5, -1.5, 1.5, -0.5}});
  VectorXd free(system.a.rows()), square(system.a.rows());
  step.free(system.constant, system.ramp, system.slopes, system.curvatures, free);
  step.to_square(system.constant, square);
  MatrixXd all(system.a.rows(), 4);
  all << step.to_inputs(quintic), free, square;
  return all;
}

/// The largest deviation of a state, relative to its own size.
double change_by_units(Eigen::Index n, Response response) {
  const System one = in_units_of_one(n);
  const VectorXd units = random_units(n);
  const MatrixXd expected = responses(one, response);
  const MatrixXd found =
      units.cwiseInverse().asDiagonal() * responses(scaled(one, units), response);
  return (found - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

TEST(StepResponse, PhiMatricesInAnyUnits) {
  for (const Eigen::Index n : {2, 3, 6, 20}) {
    EXPECT_LT(change_by_units(n, Response::expm), 1e-11) << n;
    EXPECT_LT(change_by_units(n, Response::linear_implicit), 1e-11) << n;
  }
}

TEST(StepResponse, KrylovSpacesInAnyUnits) { EXPECT_LT(change_by_units(60, Response::expm), 1e-9); }

/// The same of entries alone, in the same units.
TEST(StepResponse, OfEntries) {
  for (const Eigen::Index n : {2, 60, 100}) {
    const System other = scaled(in_units_of_one(n), random_units(n));
    EXPECT_EQ(balancing_units(Entries(other.a.sparseView()), other.b, other.h),
              balancing_units(other.a, other.b, other.h));
    const MatrixXd found = responses<Entries>(other, Response::expm),
                   expected = responses(other, Response::expm);
    const VectorXd sizes = expected.cwiseAbs().rowwise().maxCoeff();
    EXPECT_LT(((found - expected).cwiseAbs().array().colwise() / sizes.array()).maxCoeff(), 1e-9)
        << n;
  }
}

/// A state whose unit is 1e-10 and that none drives: y of order one from 1e10 x.
TEST(StepResponse, AStateThatOnlyDrives) {
  MatrixXd a(2, 2), b(2, 1);
  a << -1.0, 0.0, 1e10, -1.0;
  b << 1e-10, 0.0;
  StepResponse step(Response::expm, 3);
  const double h = 0.01;
  step.prepare(a, b, h, {{0.3, -1.0, 0.5, 2.0}, {}});
  const MatrixXd found = step.to_inputs({1.0});
  EXPECT_NEAR(found(0, 0) / 1e-10, -std::expm1(-h), 1e-14 * h);
  EXPECT_NEAR(found(1, 0), -std::expm1(-h) - h * std::exp(-h), 1e-14 * h);
}

TEST(StepResponse, UnitsFollowFromDrivesAndDontMatterAlone) {
  const System one = in_units_of_one(9);
  const VectorXd units = random_units(9);
  const System other = scaled(one, units);
  const VectorXd ratio = balancing_units(other.a, other.b, one.h)
                             .cwiseQuotient(balancing_units(one.a, one.b, one.h))
                             .cwiseQuotient(units);
  EXPECT_LT(ratio.maxCoeff() / ratio.minCoeff(), 1e5);
  EXPECT_EQ(balancing_units(MatrixXd::Constant(2, 2, NAN), one.b.topRows(2), one.h),
            VectorXd::Ones(2));
}

/// Nothing drives a satellite: its states move each other, by as little as h is small.
TEST(StepResponse, StatesThatOnlyMoveEachOther) {
  MatrixXd a(2, 2);
  a << 0.0, 1.0, -4.0, 0.0;
  for (const double h : {1e-2, 1e-8, 1e-14, 1e-40}) {
    EXPECT_EQ(balancing_units(a, MatrixXd::Zero(2, 1), h), VectorXd::Ones(2)) << h;
    StepResponse step(Response::expm, 3);
    step.prepare(a, MatrixXd::Zero(2, 1), h, {{0.3, -1.0, 0.5, 2.0}, {}});
    VectorXd x;
    step.free(VectorXd::Ones(2), VectorXd::Zero(2), VectorXd::Zero(1), {}, x);
    const double along = std::sin(2 * h) / (2 * h), across = std::sin(h) * std::sin(h) / h;
    EXPECT_NEAR(x[0] / h, along + across / 2, 1e-14);
    EXPECT_NEAR(x[1] / h, along - 2 * across, 1e-14);
  }
  a *= 1e3;  // beyond what they move each other by within h
  EXPECT_NE(balancing_units(a, MatrixXd::Zero(2, 1), 1.0), VectorXd::Ones(2));
}

TEST(StepResponse, WithoutStatesOrInputs) {
  EXPECT_EQ(balancing_units(MatrixXd(0, 0), MatrixXd(0, 2), 0.1).size(), 0);
  EXPECT_EQ(balancing_units(MatrixXd::Ones(2, 2), MatrixXd(2, 0), 0.1), VectorXd::Ones(2));
}

}  // namespace step_response_test
}  // namespace concord
