#include "subsystem/ode/error_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models.hpp"
#include "subsystem/ode/state_rounding.hpp"

namespace concord::test {
namespace error_weights_test {

constexpr double eps = std::numeric_limits<double>::epsilon();

TEST(ErrorWeights, AllowWhatTheToleranceDoes) {
  ErrorWeights weights({1e-6, 1e-8, true}, 2);
  const double sizes[] = {5.0, 1e-9}, rounding[] = {0.0, 0.0}, x[] = {-2.0, 3e-9};
  double w[2];
  weights.take(sizes, rounding);
  weights.weigh(x, 1.0, w);
  EXPECT_NEAR(w[0] * (1e-6 * 2.0 + 1e-8 * 5.0), 1.0, 1e-12);
  EXPECT_NEAR(w[1] * (1e-6 * 3e-9 + 1e-8 * 1e-9), 1.0, 1e-12);
  double of_four[2];
  weights.weigh(x, 4.0, of_four);
  EXPECT_EQ(4.0 * of_four[0], w[0]);
}

TEST(ErrorWeights, AStateWithoutASizeHasNoSayAndNoMagnitude) {
  ErrorWeights weights({1e-6, 1e-8, true}, 2);
  const double sizes[] = {1e10, 0.0}, rounding[] = {0.0, 0.0}, x[] = {1e10, 1e-12};
  double w[2];
  weights.take(sizes, rounding);
  weights.weigh(x, 1.0, w);
  EXPECT_EQ(w[1], 0.0);
  EXPECT_EQ(weights.magnitude(1, x[1]), 0.0);
  EXPECT_EQ(weights.magnitude(0, 2e10), 2e10);
  EXPECT_EQ(weights.magnitude(0, 1.0), 1e10);
}

TEST(ErrorWeights, RoundingIsAFloorOfTolerancesInSizesOnly) {
  const double sizes[] = {1.0}, rounding[] = {1e-3}, x[] = {0.0};
  for (const bool of_size : {true, false}) {
    ErrorWeights weights({1e-6, 1e-8, of_size}, 1);
    double w[1];
    weights.take(sizes, rounding);
    weights.weigh(x, 1.0, w);
    EXPECT_NEAR(1.0 / w[0], of_size ? 1e-3 : 1e-8, 1e-15);
  }
}

/// x0 is a small difference of large terms, x1 is not; f0 = 1e6 (x1 - u) - 10 x0.
class Rounding : public ::testing::Test {
 protected:
  Rounding()
      : description(describe_ode("s", "native", make()->interface())),
        model(make(), description),
        rounding(model) {}

  static std::unique_ptr<OdeModel> make() {
    return std::make_unique<LambdaModel>(
        std::vector<double>{1e-9, 1.0}, 1, 1,
        [](double, Span x, Span u, Out dxdt) {
          dxdt[0] = 1e6 * (x[1] - u[0]) - 10.0 * x[0];
          dxdt[1] = -x[1];
        },
        first_state);
  }

  StateRounding::Memory measured(double tolerance) {
    const double x[] = {1e-9, 1.0}, u[] = {1.0}, x_sizes[] = {1e-9, 1.0}, u_sizes[] = {1.0};
    StateRounding::Memory memory = rounding.fresh();
    rounding.measure({0.0, 0.1, x, u, x_sizes, u_sizes}, {tolerance, tolerance, true}, memory);
    return memory;
  }

  SubsystemDescription description;
  CheckedModel model;
  StateRounding rounding;
};

TEST_F(Rounding, FloorsAreWhatRoundingOfTheTermsMakesInTheStatesTime) {
  const StateRounding::Memory memory = measured(1e-8);
  EXPECT_GT(memory.rate[0], 1e6 * eps);
  EXPECT_LT(memory.rate[0], 1e3 * 1e6 * eps);
  EXPECT_NEAR(memory.time[0], 0.1, 1e-3);  // 1/|df0/dx0|
  EXPECT_LT(memory.rate[1], 1e3 * eps);
  double within[2];
  StateRounding::within(1e-3, memory, within);
  EXPECT_NEAR(within[0], 1e-3 * memory.rate[0], 1e-20);
  StateRounding::within(1e3, memory, within);
  EXPECT_NEAR(within[0], memory.time[0] * memory.rate[0], 1e-15);
}

/// What passes from a place to its velocity and back is what was there: it turns with the
/// oscillation, and measuring again adds nothing.
TEST(RoundingOfAnOscillator, IsOfOneSwingHoweverOftenItIsMeasured) {
  constexpr double omega = 100.0, h = 0.4;
  const auto make = [&] {
    return std::make_unique<LambdaModel>(
        std::vector<double>{1.0, 0.0}, 1, 1,
        [](double, Span x, Span u, Out dxdt) {
          dxdt[0] = x[1];
          dxdt[1] = omega * omega * (u[0] - x[0]);
        },
        first_state);
  };
  const SubsystemDescription description = describe_ode("s", "native", make()->interface());
  CheckedModel model(make(), description);
  StateRounding rounding(model);
  const double x[] = {1.0, 0.0}, u[] = {0.2}, x_sizes[] = {1.0, omega}, u_sizes[] = {0.2};
  StateRounding::Memory memory = rounding.fresh();
  double within[2];
  for (int measurement = 0; measurement < 8; ++measurement)
    rounding.measure({0.0, h, x, u, x_sizes, u_sizes}, {1e-12, 1e-14, true}, memory);
  EXPECT_NEAR(memory.time[1], 1.0 / omega, 1e-6);
  StateRounding::within(h, memory, within);
  EXPECT_LT(within[0], 200.0 * eps);
  EXPECT_LT(within[1], 200.0 * eps * omega);
}

TEST_F(Rounding, AStateWhoseToleranceIsAboveItNeedsNoTime) {
  EXPECT_TRUE(std::isinf(measured(1e-8).time[1]));
}

TEST_F(Rounding, IsMeasuredAtTheFirstMacroStepsAndThenEverMoreRarely) {
  StateRounding::Memory memory = rounding.fresh();
  std::vector<std::int64_t> due;
  for (; memory.macro_steps < 20; ++memory.macro_steps)
    if (StateRounding::due(memory)) due.push_back(memory.macro_steps);
  EXPECT_EQ(due, (std::vector<std::int64_t>{0, 1, 2, 4, 8, 16}));
}

TEST_F(Rounding, WhereFFailsMemoryStays) {
  const double x[] = {std::nan(""), 1.0}, u[] = {1.0}, sizes[] = {1.0, 1.0};
  StateRounding::Memory memory = rounding.fresh();
  rounding.measure({0.0, 0.1, x, u, sizes, u}, {1e-8, 1e-8, true}, memory);
  EXPECT_EQ(memory.rate, rounding.fresh().rate);
}

}  // namespace error_weights_test
}  // namespace concord::test
