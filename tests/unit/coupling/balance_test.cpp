#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "coupling/explicit/explicit_coupling.hpp"
#include "coupling/method.hpp"

namespace concord {
namespace balance_test {

constexpr double omega = 2.0;

// ---- what is given back when ----

/// Errors 1, 2, 4, 8, ... on steps of the same size.
std::vector<double> given_back(int spread, int steps, std::vector<double>* accumulated = nullptr) {
  BalanceErrors errors(1, spread);
  std::vector<double> due;
  for (int n = 0; n < steps; ++n) {
    errors.begin(0.1, n == 0 ? 0.0 : 0.1);
    due.push_back(errors.due(0));
    errors.measure(0, std::pow(2.0, n), 0.0);
    errors.commit();
    if (accumulated != nullptr) {
      accumulated->push_back(errors.accumulated()[0]);
    }
  }
  return due;
}

TEST(BalanceErrors, AnErrorComesBackOnTheNextStep) {
  std::vector<double> accumulated;
  EXPECT_EQ(given_back(1, 5, &accumulated), (std::vector<double>{0, 1, 2, 4, 8}));
  EXPECT_EQ(accumulated, (std::vector<double>{1, 2, 4, 8, 16}));
}

TEST(BalanceErrors, AnErrorComesBackInEqualSharesOnTheNextSteps) {
  EXPECT_EQ(given_back(2, 5), (std::vector<double>{0, 0.5, 1.5, 3, 6}));
  EXPECT_EQ(given_back(4, 6), (std::vector<double>{0, 0.25, 0.75, 1.75, 3.75, 7.5}));
}

TEST(BalanceErrors, WithoutCorrectionEverythingAccumulates) {
  std::vector<double> accumulated;
  EXPECT_EQ(given_back(0, 4, &accumulated), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(accumulated, (std::vector<double>{1, 3, 7, 15}));
}

/// A step that was rejected has no part in it.
TEST(BalanceErrors, OnlyCommittedStepsCount) {
  BalanceErrors errors(1, 1);
  errors.begin(0.1, 0.0);
  errors.measure(0, 100.0, 0.0);
  errors.begin(0.05, 0.0);
  errors.measure(0, 3.0, 1.0);
  errors.commit();
  errors.begin(0.05, 0.05);
  EXPECT_EQ(errors.due(0), 2.0);
  EXPECT_EQ(errors.accumulated()[0], 2.0);
}

/// A tenth of the step before takes a tenth of the correction; what is left comes after it.
TEST(BalanceErrors, AShorterStepGivesBackLess) {
  BalanceErrors errors(1, 1);
  errors.begin(1.0, 0.0);
  errors.measure(0, 5.0, 0.0);
  errors.commit();
  errors.begin(0.1, 1.0);
  EXPECT_DOUBLE_EQ(errors.due(0), 0.5);
  errors.measure(0, 0.25, 0.0);
  errors.commit();
  EXPECT_DOUBLE_EQ(errors.accumulated()[0], 4.75);
  errors.begin(0.1, 0.1);
  EXPECT_DOUBLE_EQ(errors.due(0), 4.75);
  errors.measure(0, 0.0, 0.0);
  errors.commit();
  EXPECT_NEAR(errors.accumulated()[0], 0.0, 1e-15);
  EXPECT_EQ(errors.largest()[0], 5.0);
}

TEST(BalanceErrors, AnEventDropsWhatIsStillToBeGivenBack) {
  BalanceErrors errors(1, 3);
  errors.begin(0.1, 0.0);
  errors.measure(0, 3.0, 0.0);
  errors.commit();
  errors.forget();
  errors.begin(0.1, 0.0);
  EXPECT_EQ(errors.due(0), 0.0);
  EXPECT_EQ(errors.accumulated()[0], 3.0);
}

// ---- in a coupling ----

/// What an input has been given: its integral, the largest jump and the number of pieces.
struct Given {
  double integral = 0.0;
  double largest_jump = 0.0;
  double largest_kink = 0.0;  ///< jump of the slope
  int advances = 0;
  Sample last;
};

/// x' = factor u, integrated exactly, output x. Knows no slopes unless told so.
class Integrator : public Subsystem {
 public:
  Integrator(SubsystemDescription description, double factor, double start, Given& given)
      : Subsystem(std::move(description)), factor_(factor), start_(start), given_(given) {}
  void start(const MacroStep&, double) override { x_ = start_; }
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs, InputContinuity,
                  Wanted, std::span<Sample> outputs) override {
    const Sample begin = inputs[0].at(0.0);
    if (given_.advances++ > 0) {
      given_.largest_jump =
          std::max(given_.largest_jump, std::abs(begin.value - given_.last.value));
      given_.largest_kink =
          std::max(given_.largest_kink, std::abs(begin.derivative - given_.last.derivative));
    }
    given_.last = inputs[0].at(step.size());
    const double area = integral(inputs[0], step.size());
    given_.integral += area;
    x_ += factor_ * area;
    outputs[0] = {x_, factor_ * given_.last.value};
    return Outcome::ok;
  }
  Outcome point_outputs(std::span<const Sample> inputs, Wanted, std::span<Sample> out) override {
    out[0] = {x_, factor_ * inputs[0].value};
    return Outcome::ok;
  }
  std::span<const double> states() const override { return {&x_, 1}; }
  Outcome state_derivatives(std::span<const Sample>, std::span<double>) override {
    return Outcome::failed;
  }
  Outcome linearize(std::span<const Sample>, Linearization&) override { return Outcome::failed; }
  void save() override {
    saved_ = x_;
    saved_given_ = given_;
  }
  void restore() override {
    x_ = saved_;
    given_ = saved_given_;
  }

 private:
  double factor_, start_;
  Given& given_;
  Given saved_given_;
  double x_ = 0.0, saved_ = 0.0;
};

/// x' = omega v, v' = -omega x: x = cos, v = -sin of omega t.
struct Oscillator {
  explicit Oscillator(bool slopes) {
    add("spring", omega, 1.0, slopes, to_spring);
    add("mass", -omega, 0.0, slopes, to_mass);
    connect("mass.y", "spring.u");
    connect("spring.y", "mass.u");
  }

  void connect(const std::string& from, const std::string& to) {
    ConnectionEntry entry;
    entry.from = from;
    entry.to = to;
    model.connections.push_back(entry);
  }

  void add(const std::string& name, double factor, double start, bool slopes, Given& given) {
    SubsystemDescription description;
    description.name = name;
    description.kind = "test";
    description.inputs = {{"u", "", 0.0}};
    description.states = {{"x", "", start}};
    description.outputs = {{"y", ""}};
    auto& has = description.capabilities;
    has.polynomial_inputs = has.point_outputs = has.rollback = true;
    has.output_derivatives = slopes;
    SubsystemEntry entry;
    entry.description = description;
    entry.type.own().create = [=, &given](const SubsystemEntry&, const SubsystemSettings&) {
      return std::make_unique<Integrator>(description, factor, start, given);
    };
    model.subsystems.push_back(std::move(entry));
  }

  Model model;
  Given to_spring, to_mass;
};

struct Ended {
  Given to_spring;
  double accumulated = 0.0;  ///< balance error of the spring's input
  double put_out = 0.0;      ///< integral of the cubics through the mass's outputs
  double error = 0.0;        ///< of the spring's state at the end
};

/// Steps to t = 3 with the given ends.
Ended run(Method method, bool slopes, const std::vector<double>& times) {
  method.solve = Solve::none;
  Oscillator oscillator(slopes);
  const Network network(oscillator.model);
  const Partition partition = Partition::on_one_rank(network);
  RankNetwork subsystems(PETSC_COMM_SELF, oscillator.model, network, partition,
                         SettingsList(oscillator.model.subsystems.size()));
  ExplicitCoupling coupling(method, subsystems);
  CommunicationPoint point;
  coupling.start({times[0], times[1]}, times.back(), point);
  for (std::size_t i = 0; i < point.inputs.size(); ++i) {
    point.polynomials[i].c[0] = point.inputs[i].value;
  }
  Trial trial{point.inputs, point.outputs, point.polynomials};
  Ended ended;
  for (std::size_t n = 1; n < times.size(); ++n) {
    const MacroStep step{times[n - 1], times[n]};
    EXPECT_EQ(coupling.solve(step, point, trial).status, CouplingStatus::converged);
    ended.put_out += hermite_integral(point.inputs[0], trial.inputs[0], step.size());
    std::swap(point.inputs, trial.inputs);
    std::swap(point.outputs, trial.outputs);
    std::swap(point.polynomials, trial.polynomials);
    point.time = step.end;
    point.last_step = step.size();
    coupling.commit(point);
  }
  ended.to_spring = oscillator.to_spring;
  ended.accumulated = coupling.balance() != nullptr ? coupling.balance()->accumulated()[0] : 0.0;
  ended.error = std::abs(point.outputs[0].value - std::cos(omega * times.back()));
  return ended;
}

std::vector<double> equal_steps(int count) {
  std::vector<double> times;
  for (int n = 0; n <= count; ++n) {
    times.push_back(3.0 * n / count);
  }
  return times;
}

/// Sizes that vary by a factor of five.
std::vector<double> unequal_steps(int count) {
  std::vector<double> times = equal_steps(count);
  for (double& t : times) {
    t += 0.3 / count * std::sin(2.0 * std::numbers::pi * t * count / 3.0 / 3.0);
  }
  times.front() = 0.0;
  times.back() = 3.0;
  return times;
}

Method corrected(Balance balance, int order, int spread = 1) {
  Method method;
  method.hold_order = order;
  method.balance = balance;
  method.balance_spread = spread;
  method.measures_balance = true;
  return method;
}

/// To rounding, whatever is done to the inputs.
TEST(Balance, WhatIsGivenAndWhatIsMissingAreWhatWasPutOut) {
  for (const Balance balance : {Balance::none, Balance::constant, Balance::smooth}) {
    for (const bool switching : {false, true}) {
      if (balance == Balance::constant && switching) {
        continue;  // refused
      }
      for (const int order : {0, 1, 2, 3}) {
        Method method = corrected(balance, order, balance == Balance::none ? 1 : 3);
        method.smooth_switching = switching;
        const Ended ended = run(method, true, unequal_steps(50));
        EXPECT_NEAR(ended.to_spring.integral + ended.accumulated, ended.put_out, 1e-13);
        EXPECT_GT(std::abs(ended.accumulated), 1e-9);
      }
    }
  }
}

/// Bounded, where without correction it grows: at order k by one power of h smaller.
TEST(Balance, TheAccumulatedErrorIsOneOrderSmaller) {
  for (const int order : {0, 1, 2}) {
    for (const int spread : {1, 2, 3, 4}) {
      double size[2];
      for (const int i : {0, 1}) {
        size[i] =
            std::abs(run(corrected(Balance::smooth, order, spread), true, equal_steps(300 << i))
                         .accumulated);
      }
      EXPECT_NEAR(std::log2(size[0] / size[1]), order + 2, 0.15) << order << ", " << spread;
    }
  }
}

/// Orders of the state, with equal and unequal steps, with slopes and with values alone.
TEST(Balance, CorrectionGainsAnOrder) {
  for (const bool slopes : {true, false}) {
    for (const bool equal : {true, false}) {
      for (const Balance balance : {Balance::none, Balance::constant, Balance::smooth}) {
        for (const int order : {0, 1, 2}) {
          double error[2];
          for (const int i : {0, 1}) {
            const int count = 600 << i;
            error[i] = run(corrected(balance, order), slopes,
                           equal ? equal_steps(count) : unequal_steps(count))
                           .error;
          }
          // Without slopes the first macro-step has a constant hold: one error of O(h^2).
          const int uncorrected = slopes ? order + 1 : std::min(order + 1, 2);
          const int expected = uncorrected + (balance == Balance::none ? 0 : 1);
          EXPECT_NEAR(std::log2(error[0] / error[1]), expected, 0.25)
              << "slopes " << slopes << ", equal steps " << equal << ", correction "
              << static_cast<int>(balance) << ", order " << order;
        }
      }
    }
  }
}

/// Only what was asked for costs: one advance per macro-step, or one per piece.
TEST(Balance, AdvancesPerMacroStep) {
  EXPECT_EQ(run(Method{}, true, equal_steps(10)).to_spring.advances, 10);
  EXPECT_EQ(run(corrected(Balance::none, 0), true, equal_steps(10)).to_spring.advances, 10);
  EXPECT_EQ(run(corrected(Balance::constant, 0), true, equal_steps(10)).to_spring.advances, 10);
  EXPECT_EQ(run(corrected(Balance::smooth, 0), true, equal_steps(10)).to_spring.advances,
            1 + 9 * InputSpline::pieces);
}

/// Zoh jumps by h u'; switched inputs neither jump nor bend, corrected or not.
TEST(SmoothSwitching, InputsAreContinuousWithTheirSlopes) {
  for (const Balance balance : {Balance::none, Balance::smooth}) {
    for (const int order : {0, 1, 2, 3}) {
      Method plain = corrected(balance, order);
      Method switched = plain;
      switched.smooth_switching = true;
      EXPECT_GT(run(plain, true, equal_steps(20)).to_spring.largest_jump, 1e-5);
      const Given given = run(switched, true, unequal_steps(20)).to_spring;
      EXPECT_LT(given.largest_jump, 1e-12);
      EXPECT_LT(given.largest_kink, 1e-10);
    }
  }
}

TEST(SmoothSwitching, KeepsTheOrder) {
  for (const int order : {0, 1, 2, 3}) {
    Method method;
    method.hold_order = order;
    method.smooth_switching = true;
    const double coarse = run(method, true, equal_steps(600)).error;
    const double fine = run(method, true, equal_steps(1200)).error;
    EXPECT_NEAR(std::log2(coarse / fine), order + 1, 0.25) << order;
  }
}

}  // namespace balance_test
}  // namespace concord
