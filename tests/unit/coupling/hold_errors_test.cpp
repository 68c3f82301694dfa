#include "coupling/estimates/hold_errors.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <functional>
#include <limits>

#include "signal/hold.hpp"
#include "unit/coupling/mock_network.hpp"

namespace concord::test {
namespace hold_errors_test {

constexpr double h = 0.1;

/// t^n.
Sample power(int n, double t) { return {std::pow(t, n), n == 0 ? 0.0 : n * std::pow(t, n - 1)}; }

Method implicit(Hold hold) {
  Method method;
  method.hold = hold;
  return method;
}

Method extrapolating(int order) {
  Method method;
  method.solve = Solve::none;
  method.hold = Hold::extrapolate;
  method.hold_order = order;
  return method;
}

/// One connected input that is fed by a known signal and given a known polynomial.
class Watched {
 public:
  explicit Watched(const Method& method, std::function<Sample(double)> signal, double begin = 0.0)
      : errors(method, network_.subsystems()), signal_(std::move(signal)) {
    point_ = network_.start(h);
    point_.time = begin;
    fed_.resize(network_.subsystems().n_inputs());
    input_ = network_.subsystems().connected_inputs().front();
    point_.slopes_known = true;
    feed();
    errors.start(point_, fed_);
  }

  void step(double size, const Polynomial& given, const BalanceErrors* balance = nullptr) {
    point_.last_step = size;
    point_.time += size;
    point_.polynomials[input_] = given;
    feed();
    const std::vector<double> unknown(fed_.size(), std::numeric_limits<double>::quiet_NaN());
    errors.observe(point_, fed_, unknown, nullptr, balance);
  }

  double time() const { return point_.time; }
  std::size_t input() const { return input_; }
  double impulse() const { return errors.impulses()[0]; }
  double deviation() const { return errors.deviations()[0]; }

 private:
  void feed() { fed_[input_] = signal_(point_.time); }

  static constexpr auto scalar = [](double value) {
    return Eigen::MatrixXd::Constant(1, 1, value);
  };
  MockNetwork network_{{{"a", scalar(-1), scalar(1), scalar(1), scalar(0)},
                        {"b", scalar(-1), scalar(1), scalar(1), scalar(0)}},
                       {{"a.y0", "b.u0"}}};

 public:
  HoldErrors errors;

 private:
  std::function<Sample(double)> signal_;
  CommunicationPoint point_;
  std::vector<Sample> fed_;
  std::size_t input_ = 0;
};

/// A cubic through value and slope at both ends of t^4 is tau^2 (h - tau)^2 below it.
TEST(HoldErrors, CubicsThroughAQuartic) {
  Watched watched(
      implicit(Hold::hermite), [](double t) { return power(4, t); }, 0.3);
  double expected = 0.0;
  for (const double size : {h, h, 0.5 * h, 2.0 * h, h}) {
    const double t = watched.time();
    watched.step(size, from_guess(Hold::hermite, power(4, t), power(4, t + size), size, true));
    expected -= std::pow(size, 5) / 30.0;
  }
  EXPECT_NEAR(watched.impulse(), expected, 1e-12 * h);
  EXPECT_NEAR(watched.deviation(), expected, 1e-12 * h);
  EXPECT_NEAR(watched.errors.at_end()[0], 0.0, 1e-15);
}

/// Given another cubic than what feeds it, the input misses the difference.
TEST(HoldErrors, WhatWasGivenInsteadOfACubic) {
  Watched watched(implicit(Hold::hermite), [](double t) { return power(3, t); });
  double expected = 0.0;
  for (int n = 0; n < 4; ++n) {
    watched.step(h, {{0.25, 0.5, 0.0, 0.0}});
    const double t = n * h;
    expected += 0.25 * h + 0.25 * h * h - (std::pow(t + h, 4) - std::pow(t, 4)) / 4.0;
    EXPECT_NEAR(watched.impulse(), expected, 1e-14);
    EXPECT_NEAR(watched.errors.at_end()[0], 0.25 + 0.5 * h - std::pow(t + h, 3), 1e-15);
  }
  EXPECT_NEAR(watched.deviation(), 0.0, 1e-14);
}

/// The value at the end of the macro-step, held over it.
TEST(HoldErrors, ImplicitConstantsThroughALine) {
  Watched watched(implicit(Hold::zoh), [](double t) { return power(1, t); });
  for (int n = 0; n < 5; ++n) {
    watched.step(h, {{watched.time() + h, 0.0, 0.0, 0.0}});
    EXPECT_NEAR(watched.impulse(), (n + 1) * h * h / 2.0, 1e-15);
    EXPECT_NEAR(watched.errors.largest()[0], h / 2.0, 1e-15);
  }
}

/// Secants are h^2/6 above t^2 in the mean; the first one cannot be told from the signal.
TEST(HoldErrors, ImplicitLinesThroughAParabola) {
  Watched watched(
      implicit(Hold::foh), [](double t) { return power(2, t); }, 0.4);
  for (int n = 0; n < 4; ++n) {
    const double t = watched.time();
    watched.step(h, from_guess(Hold::foh, power(2, t), power(2, t + h), h, true));
    EXPECT_NEAR(watched.impulse(), n * h * h * h / 6.0, 1e-14);
  }
}

/// Extrapolation of order k of t^{k+1} misses s (s + 1) ... (s + k) h^{k+1}, s = tau/h: the errors
/// of the explicit Adams methods.
TEST(HoldErrors, ExtrapolationOfEveryOrder) {
  constexpr double adams[] = {1.0 / 2.0, 5.0 / 6.0, 9.0 / 4.0, 251.0 / 30.0};
  constexpr double at_end[] = {1.0, 2.0, 6.0, 24.0};
  for (int k = 0; k < 4; ++k) {
    const auto signal = [k](double t) { return power(k + 1, t); };
    Watched watched(extrapolating(k), signal);
    const auto extrapolated = [&](double t) {  // w less the product, which makes it of degree k
      Eigen::VectorXd p = Eigen::VectorXd::Zero(5);
      p[0] = 1.0;
      for (int i = 0; i <= k; ++i) {  // times (tau + i h)
        const Eigen::VectorXd by_tau = (Eigen::VectorXd(5) << 0.0, p.head(4)).finished();
        p = by_tau + i * h * p;
      }
      Polynomial result;
      double binomial = 1.0;
      for (int i = 0; i <= k; ++i) {
        result.c[static_cast<std::size_t>(i)] = binomial * std::pow(t, k + 1 - i) - p[i];
        binomial *= static_cast<double>(k + 1 - i) / (i + 1);
      }
      return result;
    };
    for (int n = 0; n < 9; ++n) {
      if (n == 5) {  // all points are there
        watched.errors.clear();
      }
      watched.step(h, extrapolated(watched.time()));
    }
    EXPECT_NEAR(watched.impulse() / (-4.0 * adams[k] * std::pow(h, k + 2)), 1.0, 1e-9) << k;
    EXPECT_NEAR(watched.errors.at_end()[0] / (-at_end[k] * std::pow(h, k + 1)), 1.0, 1e-9) << k;
  }
}

/// Constants from the beginning of each macro-step of a line: what goes through their ends lies a
/// whole macro-step behind the signal, and half a one behind what was given.
TEST(HoldErrors, DeviationOfWhatWasGivenFromItsEnds) {
  Watched watched(extrapolating(0), [](double t) { return power(1, t); });
  for (int n = 0; n < 5; ++n) {
    watched.step(h, {{watched.time(), 0.0, 0.0, 0.0}});
    EXPECT_NEAR(watched.impulse(), -(n + 1) * h * h / 2.0, 1e-15);
    EXPECT_NEAR(watched.deviation(), n * h * h / 2.0, 1e-15);
  }
}

/// What balance correction knows needs no signal.
TEST(HoldErrors, BalanceKnowsWhatWasGiven) {
  Watched watched(extrapolating(0), [](double) { return Sample{}; });
  BalanceErrors balance(watched.input() + 1, 0);
  for (int n = 1; n < 4; ++n) {
    balance.begin(h, h);
    balance.measure(watched.input(), 0.25 * n, 1.0);
    balance.commit();
    watched.step(h, {}, &balance);
  }
  EXPECT_NEAR(watched.impulse(), 3.0 - 0.25 * (1 + 2 + 3), 1e-15);
}

TEST(HoldErrors, VariationAndClearing) {
  Watched watched(implicit(Hold::hermite), [](double t) { return power(2, t - 0.25); });
  for (int n = 0; n < 5; ++n) {
    watched.step(h, {});
  }
  EXPECT_NEAR(watched.errors.variation()[0], 0.0625 - 0.0025 + 0.0 + 0.06, 1e-15);
  watched.errors.clear();
  EXPECT_EQ(watched.errors.variation()[0], 0.0);
  EXPECT_EQ(watched.impulse(), 0.0);
  EXPECT_EQ(watched.errors.largest()[0], 0.0);
}

}  // namespace hold_errors_test
}  // namespace concord::test
