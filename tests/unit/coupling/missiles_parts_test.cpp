#include <gtest/gtest.h>

#include <Eigen/Core>
#include <limits>

#include "coupling/implicit/missed_growth.hpp"
#include "unit/coupling/mock_network.hpp"

namespace concord {
namespace missiles_parts_test {

using test::LinearPart;
using test::MockNetwork;

LinearPart integrator(const std::string& name) {
  const Eigen::MatrixXd one = Eigen::MatrixXd::Constant(1, 1, 1.0);
  return {name, -one, one, one, 0.0 * one, 2.0};
}

/// x' = -x + u, y = x in a ring of two, both from 2.
class Misses : public ::testing::Test {
 protected:
  Misses() {
    const CommunicationPoint point = network_.start(0.1);
    subsystems_.see(point.inputs, point.outputs, 0.1);
    trial_ = {point.inputs, point.outputs, point.polynomials};
    fed_ = trial_.inputs;
  }

  /// The first input is fed by `factor` times what was predicted.
  void feed(double factor, Outcome outcome = Outcome::ok) {
    fed_[0].value = factor * trial_.inputs[0].value;
    misses_.measure(trial_, fed_, outcome);
  }

  MockNetwork network_{{integrator("a"), integrator("b")}, {{"b.y0", "a.u0"}, {"a.y0", "b.u0"}}};
  RankNetwork& subsystems_ = network_.subsystems();
  ConstraintRows constraints_{subsystems_};
  InputMisses misses_{subsystems_, constraints_, Tolerance{1e-3, 1e-3, true}};
  MissedGrowth growth_{subsystems_};
  Trial trial_;
  std::vector<Sample> fed_;
};

TEST_F(Misses, AreSharesOfTheInputsSize) {
  feed(1.0 + 0.5e-4);
  EXPECT_FALSE(misses_.noticeable());
  feed(1.0 + 2e-4);
  EXPECT_TRUE(misses_.noticeable());
  EXPECT_FALSE(misses_.far_off());
  EXPECT_NEAR(misses_.ratio(), 0.1, 1e-3);
  feed(0.4);
  EXPECT_TRUE(misses_.far_off());
  EXPECT_EQ(misses_.worst(trial_, fed_), "input 'a.u0' was predicted as 2 and is fed 0.8");
}

TEST_F(Misses, AreInfiniteWhereSomethingFails) {
  feed(1.0);
  EXPECT_TRUE(misses_.finite());
  feed(1.0, Outcome::failed);
  EXPECT_FALSE(misses_.finite());
  feed(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(misses_.finite());
}

TEST_F(Misses, GrowthCountsSinceTheyAreNoticed) {
  const double begin = fed_[0].value;
  for (const double factor : {10.0, 100.0, 1000.0}) {
    feed(factor);
    growth_.look(misses_, fed_);
    EXPECT_NEAR(growth_.factor(), factor, 1e-9);
    EXPECT_EQ(growth_.astray(misses_), factor == 1000.0);
    growth_.commit(misses_);
    subsystems_.see(fed_, trial_.outputs, 0.1);
  }
  EXPECT_FALSE(growth_.doubtful());
  EXPECT_EQ(growth_.macro_steps(), 4);
  fed_[0].value = begin;
  feed(1.0);
  growth_.look(misses_, fed_);
  EXPECT_EQ(growth_.factor(), 1.0);
  growth_.commit(misses_);
  EXPECT_EQ(growth_.macro_steps(), 1);
}

}  // namespace missiles_parts_test
}  // namespace concord
