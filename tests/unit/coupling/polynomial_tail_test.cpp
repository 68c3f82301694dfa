// What polynomials through nodes miss, against the functions that they were made of.
#include "coupling/collocation/polynomial_tail.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace concord::test {
namespace polynomial_tail_test {

using Function = std::function<double(double)>;

struct Signal {
  std::string name;
  Function value, slope;
};

const std::vector<Signal> signals = {
    {"pole", [](double s) { return 1.0 / (s + 0.3); },
     [](double s) { return -1.0 / ((s + 0.3) * (s + 0.3)); }},
    {"wave", [](double s) { return std::sin(6.0 * s + 0.3); },
     [](double s) { return 6.0 * std::cos(6.0 * s + 0.3); }},
    {"even wave", [](double s) { return std::cos(6.0 * s - 3.0); },
     [](double s) { return -6.0 * std::sin(6.0 * s - 3.0); }},
    {"decay", [](double s) { return std::exp(-4.0 * s); },
     [](double s) { return -4.0 * std::exp(-4.0 * s); }},
    {"front", [](double s) { return std::tanh(3.0 * (s - 0.4)); },
     [](double s) { return 3.0 / std::pow(std::cosh(3.0 * (s - 0.4)), 2); }},
};

Eigen::VectorXd at(const Eigen::VectorXd& points, const Function& f) {
  return points.unaryExpr([&](double s) { return f(s); });
}

double largest_difference(const Function& f, const Function& g) {
  double largest = 0.0;
  for (int i = 0; i <= 200; ++i) largest = std::max(largest, std::abs(f(i / 200.0) - g(i / 200.0)));
  return largest;
}

class Families : public ::testing::TestWithParam<NodeFamily> {};
INSTANTIATE_TEST_SUITE_P(Each, Families, ::testing::Values(NodeFamily::gauss, NodeFamily::radau));

TEST_P(Families, OfIntegrals) {
  for (const Eigen::Index count : {6, 7, 9}) {
    const CollocationNodes nodes(GetParam(), static_cast<int>(count));
    for (const Signal& signal : signals) {
      const Eigen::VectorXd slopes = at(nodes.shares(), signal.slope);
      const double missed = largest_difference(
          [&](double s) { return signal.value(0.0) + nodes.up_to(s).dot(slopes); }, signal.value);
      const double told = PolynomialTail(nodes).of_integral(slopes.data(), 1);
      EXPECT_GT(told, 0.4 * missed) << signal.name << ' ' << count;
      EXPECT_LT(told, 6.0 * missed) << signal.name << ' ' << count;
    }
  }
}

TEST_P(Families, OfValuesWithEnds) {
  const CollocationNodes nodes(GetParam(), 7);
  const Eigen::VectorXd points = nodes.with_ends();
  for (const Signal& signal : signals) {
    const Eigen::VectorXd values = at(points, signal.value);
    const double missed = largest_difference(
        [&](double s) { return lagrange_weights(points, s).dot(values); }, signal.value);
    const double told = PolynomialTail(nodes).of_values(values.data() + 1, 1);
    EXPECT_GT(told, 0.4 * missed) << signal.name;
    EXPECT_LT(told, 15.0 * missed) << signal.name;
  }
}

TEST(PolynomialTail, LacksNothing) {
  const CollocationNodes nodes(NodeFamily::gauss, 6);
  const PolynomialTail tail(nodes);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(6), one = Eigen::VectorXd::Ones(6);
  EXPECT_EQ(tail.of_integral(zero.data(), 1), 0.0);
  EXPECT_LT(tail.of_integral(one.data(), 1), 1e-14);
}

TEST(PolynomialTail, ReadsWithStrides) {
  const CollocationNodes nodes(NodeFamily::gauss, 6);
  const PolynomialTail tail(nodes);
  const Eigen::VectorXd values = at(nodes.shares(), signals.front().value);
  Eigen::MatrixXd rows = Eigen::MatrixXd::Random(2, 6);
  rows.row(1) = values;
  EXPECT_EQ(tail.of_integral(rows.data() + 1, rows.outerStride()),
            tail.of_integral(values.data(), 1));
}

}  // namespace polynomial_tail_test
}  // namespace concord::test
