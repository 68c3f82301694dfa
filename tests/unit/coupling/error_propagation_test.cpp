#include "coupling/estimates/error_propagation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <numbers>

#include "unit/coupling/mock_network.hpp"

namespace concord::test {
namespace error_propagation_test {

constexpr double gamma = 1.0 - 0.5 * std::numbers::sqrt2;

Eigen::MatrixXd number(double value) { return Eigen::MatrixXd::Constant(1, 1, value); }

/// x' = -rate x + u, y = x, and y = gain u, in a ring: with errors e of the two inputs, the state's
/// error obeys d' = (gain - rate) d + gain e_gain + e_lag.
class Ring {
 public:
  Ring(double rate, double gain)
      : network_({{"lag", number(-rate), number(1), number(1), number(0)},
                  {"gain", Eigen::MatrixXd(0, 0), Eigen::MatrixXd(0, 1), Eigen::MatrixXd(1, 0),
                   number(gain)}},
                 {{"gain.y0", "lag.u0"}, {"lag.y0", "gain.u0"}}),
        point_(network_.start(0.1)),
        propagation_(network_.subsystems(), false, true, false, true) {}

  /// Means of e and d over an interval, e at its end, of the inputs of lag and gain.
  void advance(double size, std::vector<double> mean, std::vector<double> deviation,
               const std::vector<double>& end) {
    const std::vector<double> seen(mean.size(), 0.0);
    Disturbance disturbance{
        std::move(mean), std::move(deviation), {1.0, 1.0}, {0.0, 0.0}, end, seen, {}, seen};
    point_.last_step = size;
    ASSERT_TRUE(propagation_.advance(point_, size, disturbance, nullptr));
  }
  void advance(double size, double of_lag, double of_gain) {
    advance(size, {of_lag, of_gain}, {0.0, 0.0}, {of_lag, of_gain});
  }

  double lag() const { return propagation_.outputs()[0].value; }
  double gain() const { return propagation_.outputs()[1].value; }
  ErrorPropagation& propagation() { return propagation_; }
  CommunicationPoint& point() { return point_; }

 private:
  MockNetwork network_;
  CommunicationPoint point_;
  ErrorPropagation propagation_;
};

/// Alexander's method on d' = z/H d + f: its stability function, exactly.
double alexander(double z) {
  return (1.0 + (1.0 - 2.0 * gamma) * z) / std::pow(1.0 - gamma * z, 2);
}

TEST(ErrorPropagation, StabilityFunctionOfWhatCouples) {
  constexpr double loop = -2.3, h = 0.2, of_lag = 0.4, of_gain = -0.3;
  Ring ring(0.0, loop);
  const double z = h * loop, force = (loop * of_gain + of_lag) * h;
  double expected = 0.0;
  for (int n = 0; n < 6; ++n) {
    ring.advance(h, of_lag, of_gain);
    expected = alexander(z) * expected + (alexander(z) - 1.0) / z * force;
    EXPECT_NEAR(ring.lag(), expected, 1e-13);
    EXPECT_NEAR(ring.gain(), loop * (expected + of_gain), 1e-13);
  }
}

/// Inputs are the same over each stage, and the lag answers them exactly.
TEST(ErrorPropagation, SubsystemsCarryErrorsExactly) {
  constexpr double rate = 3.0, loop = 0.7, h = 0.2, of_lag = 0.4, of_gain = -0.3;
  Ring ring(rate, loop);
  const double force = loop * of_gain + of_lag, last = std::exp(-rate * gamma * h),
               first = std::exp(-rate * (1.0 - gamma) * h);
  const auto over_last = [&](double d) {
    const double response = (1.0 - last) / rate;
    return (last * d + response * force) / (1.0 - response * loop);
  };
  double expected = 0.0;
  for (int n = 0; n < 6; ++n) {
    ring.advance(h, of_lag, of_gain);
    const double stage = over_last(expected);
    expected = over_last(first * expected + (1.0 - first) / rate * (loop * stage + force));
    EXPECT_NEAR(ring.lag(), expected, 1e-13);
    EXPECT_NEAR(ring.gain(), loop * (expected + of_gain), 1e-13);
  }
}

/// What turns a third of a circle within an interval keeps its size and phase over thousands.
TEST(ErrorPropagation, OscillatorsKeepPhase) {
  Eigen::MatrixXd a(2, 2);
  a << 0.0, 100.0, -100.0, 0.0;
  constexpr double h = 0.02;
  CarriedErrors carried;
  carried.prepare(a, h, CarriedErrors::How::exactly);
  const Eigen::VectorXd nothing = Eigen::VectorXd::Zero(2);
  Eigen::VectorXd x = Eigen::Vector2d(1.0, 0.0);
  constexpr int intervals = 5000;
  for (int n = 0; n < intervals; ++n) {
    x = carried.over_last(carried.over_first(x, nothing, nothing), nothing);
  }
  EXPECT_NEAR(x[0], std::cos(100.0 * h * intervals), 1e-9);
  EXPECT_NEAR(x[1], -std::sin(100.0 * h * intervals), 1e-9);
}

/// Constant errors: d = f (1 - exp(-a t))/a, in second order.
TEST(ErrorPropagation, OrderTwo) {
  constexpr double rate = 2.0, loop = -1.5, stop = 1.0;
  const double exact = (0.2 * loop + 1.0) * (1.0 - std::exp((loop - rate) * stop)) / (rate - loop);
  double before = 0.0;
  for (const int steps : {10, 20, 40, 80}) {
    Ring ring(rate, loop);
    for (int n = 0; n < steps; ++n) {
      ring.advance(stop / steps, 1.0, 0.2);
    }
    const double missed = std::abs(ring.lag() - exact);
    if (before > 0.0) {
      EXPECT_NEAR(std::log2(before / missed), 2.0, 0.1);
    }
    before = missed;
  }
  EXPECT_LT(before, 1e-4 * exact);
}

/// Errors die out in what is stiff, whatever the interval; grow where the model does.
TEST(ErrorPropagation, StiffSystemsForget) {
  Ring ring(1e9, 0.5);
  ring.advance(0.1, 1.0, 0.0);
  EXPECT_NEAR(ring.lag() * 1e9, 1.0, 1e-6);
  ring.advance(0.1, 0.0, 0.0);
  EXPECT_LT(std::abs(ring.lag()), 1e-6 * 1e-9);
}

TEST(ErrorPropagation, GrowthOfTheModelIsKept) {
  Ring ring(1.0, 3.0);
  ring.advance(1e-3, 1.0, 0.0);
  const double first = ring.lag();
  for (int n = 0; n < 1000; ++n) {
    ring.advance(1e-3, 0.0, 0.0);
  }
  EXPECT_NEAR(ring.lag() / first, std::exp(2.0), 1e-4);
}

/// Direct feedthrough has passed on inside the macro-step what was given there: e - P D d. At the
/// end the outputs know the error that is there.
TEST(ErrorPropagation, DeviationAndEnd) {
  constexpr double rate = 3.0, loop = 0.7, h = 0.2;
  Ring ring(rate, loop), alike(rate, loop);
  ring.advance(h, {0.5, 0.25}, {0.125, 0.75}, {0.0, 2.0});
  alike.advance(h, {0.5 - loop * 0.75, 0.25}, {0.0, 0.0}, {0.0, 2.0});
  EXPECT_NEAR(ring.lag(), alike.lag(), 1e-15);
  EXPECT_NEAR(ring.gain(), loop * (alike.lag() + 2.0), 1e-13);
}

/// Another size of the interval needs other factors, in both directions.
TEST(ErrorPropagation, IntervalsOfAllSizes) {
  constexpr double loop = -2.3;
  Ring ring(0.0, loop);
  double expected = 0.0;
  for (const double h : {0.1, 0.1, 0.4, 0.02, 0.4}) {
    const double z = h * loop;
    ring.advance(h, 1.0, 0.0);
    expected = alexander(z) * expected + (alexander(z) - 1.0) / z * h;
    EXPECT_NEAR(ring.lag(), expected, 1e-13);
  }
}

/// Far beyond what it has been: excused where a sound input explains it, not where its own error is
/// all there is.
TEST(ErrorPropagation, ExcusesWhatSoundInputsExplain) {
  Ring ring(3.0, 0.7);
  ring.advance(0.1, 1.0, 0.0);
  ring.point().outputs[0].value = 1.0;
  std::vector<int> gain_alone{0, 1}, both{1, 1};
  const std::vector<double> scale(2, 1.0);
  ring.propagation().excuse_driven(ring.point(), 1.0, scale, gain_alone);
  EXPECT_EQ(gain_alone, (std::vector<int>{0, 0}));
  ring.propagation().excuse_driven(ring.point(), 1.0, scale, both);
  EXPECT_EQ(both, (std::vector<int>{1, 1}));
}

/// 1e-8 of |C x| and 1e-4 of what the inputs could do within the interval, along three links.
TEST(ErrorPropagation, FloorsOfTermsAndInputs) {
  constexpr double rate = 3.0, loop = 0.7, h = 0.1;
  Ring ring(rate, loop);
  ring.advance(h, 0.0, 0.0);
  ring.point().inputs[0].value = 2.0;
  ring.point().inputs[1].value = -5.0;
  std::vector<double> floors(2);
  ring.propagation().write_floors(ring.point(), floors);
  const double gain_of_lag = (1.0 - std::exp(-gamma * h * rate)) / rate;
  double of_lag = 0.0, of_gain = 0.0;
  for (int link = 0; link < 4; ++link) {
    const double before = of_lag;
    of_lag = gain_of_lag * (1e-6 * 2.0 + of_gain);
    of_gain = loop * (1e-6 * 5.0 + before);
  }
  EXPECT_NEAR(floors[0], of_lag, 1e-15);
  EXPECT_NEAR(floors[1], of_gain, 1e-15);
}

}  // namespace error_propagation_test
}  // namespace concord::test
