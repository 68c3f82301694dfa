#include "expression/expression_batch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>

namespace concord {
namespace expression_batch_test {

/// Every operation there is, in x (variable 0), y (1), z (2) and the constants k and m.
const std::vector<std::string> texts = {"-x",
                                        "x + k*y",
                                        "x - m*z",
                                        "x*y*k",
                                        "x/(y + k)",
                                        "x^k",
                                        "y^3 + x^2",
                                        "2^(x*m)",
                                        "x < y",
                                        "x <= k",
                                        "x > m*y",
                                        "x >= z",
                                        "x == y",
                                        "x != y",
                                        "x > 0 && y > k",
                                        "x > 0 || y > m",
                                        "!(x > k)",
                                        "if(x > k, y*m, z/k)",
                                        "min(x, k*y, z)",
                                        "max(x, k*y, z)",
                                        "sign(x - k)",
                                        "floor(k*x)",
                                        "ceil(m*x)",
                                        "round(k*x)",
                                        "mod(x, k)",
                                        "rem(x, m)",
                                        "sin(k*x)",
                                        "cos(m*x)",
                                        "tan(x)",
                                        "asin(x/k)",
                                        "acos(x/k)",
                                        "atan(k*x)",
                                        "sinh(x)",
                                        "cosh(x/k)",
                                        "tanh(m*x)",
                                        "asinh(k*x)",
                                        "acosh(1 + x*x)",
                                        "atanh(x/k)",
                                        "exp(-k*x)",
                                        "log(x)",
                                        "log10(k + x*x)",
                                        "log2(m + x*x)",
                                        "sqrt(x*y)",
                                        "cbrt(k*x)",
                                        "abs(x - m)",
                                        "noEvent(x)",
                                        "atan2(k*x, y)",
                                        "hypot(x, m*y)",
                                        "7",
                                        "x",
                                        "(x + y)*(y + z)*(z + x) - k*m*(x - y)*(y - z)/(1 + x^2)"};

ExpressionList list_of(double k, double m) {
  std::vector<PlacedExpression> expressions;
  for (const std::string& text : texts) expressions.push_back({text, "m.yaml:1"});
  return ExpressionList(expressions, {{{"x", 0}, {"y", 1}, {"z", 2}}, {{"k", k}, {"m", m}}}, 3);
}

/// Lists with constants of their own, all of the same form, and points for them.
struct Instances {
  explicit Instances(std::size_t n) : points(3 * n), directions(3 * n) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> constant(2.1, 2.9), value(-3.0, 3.0);
    const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, 1e300, 5e-324};
    while (lists.size() < n) lists.push_back(list_of(constant(random), constant(random)));
    for (double& v : points) v = random() % 4 == 0 ? special[random() % 8] : value(random);
    for (double& v : directions) v = random() % 4 == 0 ? special[random() % 5] : value(random);
  }

  void move(std::size_t i) {
    for (std::size_t v = 0; v < 3; ++v) lists[i].point()[v] = points[v * lists.size() + i];
  }
  std::array<double, 3> direction(std::size_t i) const {
    const std::size_t n = lists.size();
    return {directions[i], directions[n + i], directions[2 * n + i]};
  }

  std::vector<ExpressionList> lists;
  std::vector<double> points, directions;
};

void expect_same_bits(double found, double expected, std::size_t row, std::size_t i) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(found)) << row << ", instance " << i;
  else
    EXPECT_EQ(std::bit_cast<std::uint64_t>(found), std::bit_cast<std::uint64_t>(expected))
        << row << ", instance " << i << ": " << found << " != " << expected;
}

class Batches : public testing::TestWithParam<std::size_t> {
 protected:
  Batches() : of(n), batch(of.lists.front(), n) {
    for (std::size_t i = 0; i < n; ++i) EXPECT_TRUE(batch.set(i, of.lists[i]));
  }

  const std::size_t n = GetParam();
  Instances of;
  ExpressionBatch batch;
};

TEST_P(Batches, evaluate_each_instance_as_alone) {
  std::vector<double> found(batch.count() * n), alone(batch.count());
  batch.evaluate(of.points, found);
  for (std::size_t i = 0; i < n; ++i) {
    of.move(i);
    of.lists[i].evaluate(alone);
    for (std::size_t row = 0; row < alone.size(); ++row)
      expect_same_bits(found[row * n + i], alone[row], row, i);
  }
}

TEST_P(Batches, differentiate_each_instance_as_alone) {
  const std::span<const double> found = batch.differentiate(of.points);
  ASSERT_EQ(found.size(), batch.entries().size() * n);
  for (std::size_t i = 0; i < n; ++i) {
    of.move(i);
    const std::span<const double> alone = of.lists[i].differentiate();
    for (std::size_t k = 0; k < alone.size(); ++k)
      expect_same_bits(found[k * n + i], alone[k], batch.entries()[k].row, i);
  }
}

TEST_P(Batches, give_slopes_of_each_instance_as_alone) {
  std::vector<double> found(batch.count() * n), alone(batch.count());
  batch.slopes(of.points, of.directions, found);
  for (std::size_t i = 0; i < n; ++i) {
    of.move(i);
    of.lists[i].slopes(of.direction(i), alone);
    for (std::size_t row = 0; row < alone.size(); ++row)
      expect_same_bits(found[row * n + i], alone[row], row, i);
  }
}

INSTANTIATE_TEST_SUITE_P(sizes, Batches, testing::Values(1, 2, 3, 8, 33, 1000));

TEST(BatchesOf, lists_with_another_program_are_refused) {
  ExpressionBatch batch(list_of(2.5, 2.25), 2);
  EXPECT_TRUE(batch.set(1, list_of(2.75, 2.0625)));
  EXPECT_FALSE(batch.set(1, list_of(2.0, 2.25)));  // x^2 is a product
}

TEST(BatchesOf, every_operation_are_tested) {
  ExpressionGraph graph;
  for (const std::string& text : texts) {
    const ExpressionNames names{{{"x", 0}, {"y", 1}, {"z", 2}, {"k", 3}, {"m", 4}}, {}};
    graph.add(read_expression({text, "m.yaml:1"}, names), names);
  }
  std::vector<char> seen(operation_count);
  for (NodeId id = 0; id < graph.size(); ++id)
    seen[static_cast<std::size_t>(graph[id].operation)] = 1;
  for (const Operation made_otherwise :
       {Operation::chain, Operation::below_square, Operation::no_event, Operation::homotopy,
        Operation::truncate, Operation::table_at, Operation::table_place, Operation::table_slope,
        Operation::table_inside})  // of tables: Maps.in_batches
    seen[static_cast<std::size_t>(made_otherwise)] = 1;
  for (std::size_t operation = 0; operation < operation_count; ++operation)
    EXPECT_TRUE(seen[operation]) << operation;
}

}  // namespace expression_batch_test
}  // namespace concord
