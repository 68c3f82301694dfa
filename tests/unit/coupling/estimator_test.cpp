#include "coupling/estimation/estimator.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "signal/hold.hpp"
#include "signal/sample_parts.hpp"
#include "unit/ode/models.hpp"

namespace concord::test {
namespace estimator_test {

constexpr double h = 0.1;

/// Linear, with direct feedthrough and both time terms; input 2 is connected nowhere.
void linear_f(double t, Span x, Span u, Out dxdt) {
  dxdt[0] = x[1] + 0.5 * u[0] + 0.3 * t;
  dxdt[1] = -30 * x[0] - 0.4 * x[1] + u[1] - 2 + u[2];
  dxdt[2] = -50 * x[2] + 20 * u[0];
}
void linear_g(double t, Span x, Span u, Out y) {
  y[0] = x[0] + 2 * x[2] + 0.7 * t;
  y[1] = x[1] - 0.3 * u[0] + 0.8 * u[1] + 1;
}

std::unique_ptr<Subsystem> linear(double rtol = 1e-12) {
  return subsystem_of({0.3, -0.2, 0.1}, 3, linear_f, settings_of(IntegratorKind::erk, rtol),
                      linear_g, 2);
}

std::vector<Polynomial> holds(const Hold& hold, std::span<const Sample> begin,
                              std::span<const Sample> end, bool slopes_known) {
  std::vector<Polynomial> result(begin.size());
  for (std::size_t i = 0; i < begin.size(); ++i) {
    result[i] = i == 2 ? Polynomial{{begin[2].value, 0, 0, 0}}
                       : from_guess(hold, begin[i], end[i], h, slopes_known);
  }
  return result;
}

/// A subsystem at its communication points, with its estimator.
class Pair {
 public:
  explicit Pair(std::unique_ptr<Subsystem> subsystem, EstimatorSettings settings = {},
                const Hold& hold = Hold::hermite)
      : subsystem_(std::move(subsystem)),
        hold_(hold),
        estimator_(*subsystem_, {0, 1}, {}, settings, hold.unknowns) {
    subsystem_->start({0.0, h}, 10.0);
    outputs_.resize(subsystem_->description().outputs.size());
    EXPECT_EQ(subsystem_->point_outputs(begin_, Wanted::values_and_derivatives, outputs_),
              Outcome::ok);
    find_curvatures();
  }

  /// One macro-step; the largest difference between the prediction and what comes.
  double step(std::vector<Sample> end, bool slopes_known, bool* new_gains = nullptr) {
    const MacroStep step{n_ * h, (n_ + 1) * h};
    Outcome outcome = Outcome::failed;
    EndGains::Pool pool;
    const bool changed = estimator_.prepare(step, begin_, outputs_, slopes_known, pool, outcome);
    EXPECT_EQ(outcome, Outcome::ok);
    if (new_gains != nullptr) *new_gains = changed;
    std::vector<Sample> predicted(outputs_.size());
    estimator_.predict(end, predicted);
    EXPECT_EQ(
        subsystem_->advance(step, holds(hold_, begin_, end, slopes_known), InputContinuity::broken,
                            Wanted::values_and_derivatives, outputs_),
        Outcome::ok);
    begin_ = end;
    find_curvatures();
    estimator_.observe(end, outputs_);
    ++n_;
    double far = 0.0;
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      far = std::max({far, std::abs(predicted[o].value - outputs_[o].value),
                      h * std::abs(predicted[o].derivative - outputs_[o].derivative),
                      h * h * std::abs(predicted[o].curvature - outputs_[o].curvature)});
    }
    return far;
  }

  Estimator& estimator() { return estimator_; }

 private:
  /// Of the outputs at begin_.
  void find_curvatures() {
    if (!hold_.ends_with_curvature()) return;
    std::vector<double> curvatures(outputs_.size());
    EXPECT_EQ(subsystem_->output_curvatures(begin_, curvatures), Outcome::ok);
    for (std::size_t o = 0; o < outputs_.size(); ++o) outputs_[o].curvature = curvatures[o];
  }

  std::unique_ptr<Subsystem> subsystem_;
  Hold hold_;
  Estimator estimator_;
  std::vector<Sample> begin_{{0.2, 1.0}, {-0.4, 3.0}, {0.5, 0.0}};
  std::vector<Sample> outputs_;
  int n_ = 0;
};

const std::vector<Sample> ends[] = {{{0.7, -2.0}, {0.1, 5.0}, {0.5, 0.0}},
                                    {{-0.3, 4.0}, {0.9, -8.0}, {0.5, 0.0}},
                                    {{0.2, 0.5}, {0.4, 2.0}, {0.5, 0.0}}};

TEST(Estimator, ExactOnLinearSubsystemsWithCubicInputs) {
  Pair pair(linear(), {Defect::none});
  bool changed = false;
  EXPECT_LT(pair.step(ends[0], true, &changed), 1e-8);
  EXPECT_TRUE(changed);
  EXPECT_LT(pair.step(ends[1], true, &changed), 1e-8);
  EXPECT_FALSE(changed) << "nothing but time has changed";
  EXPECT_LT(pair.step(ends[2], true, &changed), 1e-8);
  EXPECT_FALSE(changed);
}

TEST(Estimator, ExactOnLinearSubsystemsWithQuinticInputs) {
  Pair pair(linear(), {Defect::none}, Hold::quintic);
  const std::vector<Sample> bent[] = {{{0.7, -2.0, 30.0}, {0.1, 5.0, -8.0}, {0.5, 0.0}},
                                      {{-0.3, 4.0, 70.0}, {0.9, -8.0, 11.0}, {0.5, 0.0}}};
  EXPECT_LT(pair.step(bent[0], true), 1e-8);
  EXPECT_LT(pair.step(bent[1], true), 1e-8);
  EXPECT_LT(pair.step(bent[0], false), 1e-8);
  for (std::size_t input = 0; input < 2; ++input) {
    for (int part = 0; part < 3; ++part) {
      auto moved = bent[1];
      moved[input].*sample_parts[static_cast<std::size_t>(part)] += 1.0;
      Sample base[2], other[2];
      pair.estimator().predict(bent[1], base);
      pair.estimator().predict(moved, other);
      for (std::size_t o = 0; o < 2; ++o) {
        EXPECT_NEAR(other[o].curvature - base[o].curvature,
                    pair.estimator().gain(o, 2, input, part), 1e-9);
      }
    }
  }
}

TEST(Estimator, FirstStepWithoutSlopes) {
  Pair pair(linear(), {Defect::none});
  bool changed = false;
  EXPECT_LT(pair.step(ends[0], false), 1e-8);
  EXPECT_LT(pair.step(ends[1], true, &changed), 1e-8);
  EXPECT_TRUE(changed) << "the hold is another one";
}

TEST(Estimator, GainsAreTheDerivativeOfThePrediction) {
  Pair pair(linear(), {Defect::none});
  pair.step(ends[0], true);
  for (std::size_t input = 0; input < 2; ++input) {
    for (int part = 0; part < 2; ++part) {
      auto moved = ends[1];
      (part == 0 ? moved[input].value : moved[input].derivative) += 1.0;
      Sample base[2], other[2];
      pair.estimator().predict(ends[1], base);
      pair.estimator().predict(moved, other);
      for (std::size_t o = 0; o < 2; ++o) {
        EXPECT_NEAR(other[o].value - base[o].value, pair.estimator().gain(o, 0, input, part),
                    1e-12);
        EXPECT_NEAR(other[o].derivative - base[o].derivative,
                    pair.estimator().gain(o, 1, input, part), 1e-11);
      }
    }
  }
}

TEST(Estimator, StehfestIsNearButWorse) {
  Pair pair(linear(), {Defect::none, Response::stehfest});
  const double far = pair.step(ends[0], true);
  EXPECT_LT(far, 1e-2);
  EXPECT_GT(far, 1e-8);
}

/// Arnold 2012, stabilized extrapolation: x = x_N + h (I - hA)^-1 (f + h f_t + B (u_{N+1} - u_N)).
TEST(Estimator, LinearImplicitIsTheFormula) {
  const auto subsystem = linear();
  subsystem->start({0.0, h}, 10.0);
  const std::vector<Sample> begin{{0.2, 1.0}, {-0.4, 3.0}, {0.5, 0.0}};
  std::vector<Sample> outputs(2), predicted(2);
  EXPECT_EQ(subsystem->point_outputs(begin, Wanted::values_and_derivatives, outputs), Outcome::ok);
  Estimator estimator(*subsystem, {0, 1}, {}, {Defect::none, Response::linear_implicit}, 2);
  Outcome outcome = Outcome::failed;
  EndGains::Pool pool;
  estimator.prepare({0.0, h}, begin, outputs, true, pool, outcome);
  EXPECT_EQ(outcome, Outcome::ok);
  estimator.predict(ends[0], predicted);

  const Eigen::Matrix3d a{{0, 1, 0}, {-30, -0.4, 0}, {0, 0, -50}};
  const Eigen::Matrix<double, 3, 2> b{{0.5, 0}, {0, 1}, {20, 0}};
  const Eigen::Matrix<double, 2, 3> c{{1, 0, 2}, {0, 1, 0}};
  const Eigen::Matrix2d d{{0, 0}, {-0.3, 0.8}};
  const Eigen::Vector3d x{0.3, -0.2, 0.1}, f_t{0.3, 0, 0}, constant{0, -2 + 0.5, 0};
  const Eigen::Vector2d u{0.2, -0.4}, du{0.5, 0.5}, slopes{-2.0, 5.0}, g_t{0.7, 0};
  const Eigen::Vector3d f = a * x + b * u + constant;
  const Eigen::Vector3d slope =
      (Eigen::Matrix3d::Identity() - h * a).inverse() * (f + h * f_t + b * du);
  const Eigen::Vector2d value = c * (h * slope) + d * du + h * g_t;
  const Eigen::Vector2d rate = c * slope + d * slopes + g_t;
  for (int o = 0; o < 2; ++o) {
    EXPECT_NEAR(predicted[o].value - outputs[o].value, value[o], 1e-7);
    EXPECT_NEAR(predicted[o].derivative, rate[o], 1e-6);
  }
}

/// Without f the first prediction misses the remainder; the defect makes up for it later.
TEST(Estimator, WithoutStateDerivatives) {
  SubsystemSettings settings = settings_of(IntegratorKind::erk, 1e-12);
  settings.state_derivatives = false;
  Pair pair(subsystem_of({0.3, -0.2, 0.1}, 3, linear_f, settings, linear_g, 2));
  const double first = pair.step(ends[0], true);
  EXPECT_GT(first, 1e-3);
  EXPECT_LT(pair.step(ends[1], true), 0.2 * first);
}

void pendulum(double t, Span x, Span u, Out dxdt) {
  dxdt[0] = x[1];
  dxdt[1] = -2 * std::sin(x[0]) + u[0] + u[1] * std::cos(t) + 0 * u[2];
}

/// The largest error of later macro-steps.
TEST(Estimator, DefectOfSmoothSolutions) {
  const auto largest_error = [](Defect defect, bool forget) {
    Pair pair(subsystem_of({1.0, 0.0}, 3, pendulum, settings_of(IntegratorKind::erk, 1e-12)),
              {defect});
    double far = 0.0;
    for (int n = 1; n <= 8; ++n) {
      if (forget) pair.estimator().forget();
      const double now = pair.step({{0.2 + 0.1 * n, 1.0}, {-0.4 + 0.3 * n, 3.0}, {0.5, 0.0}}, true);
      far = n < 4 ? 0.0 : std::max(far, now);
    }
    return far;
  };
  const double none = largest_error(Defect::none, false);
  EXPECT_LT(largest_error(Defect::constant, false), 0.6 * none);
  EXPECT_LT(largest_error(Defect::linear, false), largest_error(Defect::constant, false));
  EXPECT_NEAR(largest_error(Defect::constant, true), none, 1e-12);
}

/// A subsystem large enough for Krylov spaces.
TEST(Estimator, ManyStates) {
  const auto heat = [](double t, Span x, Span u, Out dxdt) {
    const std::size_t n = x.size();
    for (std::size_t i = 0; i < n; ++i) {
      const double left = i == 0 ? u[0] : x[i - 1], right = i + 1 == n ? u[1] : x[i + 1];
      dxdt[i] = 200 * (left - 2 * x[i] + right) + 0.1 * t + 0 * u[2];
    }
  };
  const auto output = [](double, Span x, Span, Out y) { y[0] = x[3]; };
  Pair pair(subsystem_of(std::vector<double>(80, 0.1), 3, heat,
                         settings_of(IntegratorKind::cvode_bdf, 1e-11), output),
            {Defect::none});
  EXPECT_LT(pair.step(ends[0], true), 1e-7);
  EXPECT_LT(pair.step(ends[1], true), 1e-7);
}

/// What others have computed of the same, and nothing else, is what is computed alone.
TEST(Estimator, TakesTheGainsOfThoseThatAreLinearisedAlike) {
  const std::vector<Sample> begin{{0.2, 1.0}, {-0.4, 3.0}, {0.5, 0.0}};
  const auto gains = [&](double size, const std::vector<std::size_t>& connected,
                         EndGains::Pool& pool) {
    const auto subsystem = linear();
    subsystem->start({0.0, h}, 10.0);
    std::vector<Sample> outputs(2);
    subsystem->point_outputs(begin, Wanted::values_and_derivatives, outputs);
    auto estimator = std::make_unique<Estimator>(*subsystem, connected, std::vector<bool>(),
                                                 EstimatorSettings{Defect::none}, 2);
    Outcome outcome = Outcome::failed;
    estimator->prepare({0.0, size}, begin, outputs, true, pool, outcome);
    std::vector<double> result;
    for (std::size_t c = 0; c < connected.size(); ++c) {
      for (std::size_t o = 0; o < 2; ++o) result.push_back(estimator->gain(o, 1, c, 0));
    }
    return std::pair(std::move(estimator), result);
  };
  EndGains::Pool pool, empty, also_empty;
  const auto [first, of_first] = gains(h, {0, 1}, pool);
  const auto [alike, of_alike] = gains(h, {0, 1}, pool);
  EXPECT_EQ(pool.size(), 1U);
  EXPECT_EQ(of_alike, of_first);
  const auto [shorter, of_shorter] = gains(0.5 * h, {0, 1}, pool);
  EXPECT_EQ(of_shorter, gains(0.5 * h, {0, 1}, empty).second);
  const auto [narrower, of_narrower] = gains(h, {1}, pool);
  EXPECT_EQ(of_narrower, gains(h, {1}, also_empty).second);
  EXPECT_EQ(pool.size(), 3U);
}

/// A point in time of a subsystem with one input, and the estimator of the step from there.
struct OneInput {
  explicit OneInput(std::unique_ptr<Subsystem> of, EstimatorSettings settings = {Defect::none})
      : subsystem(std::move(of)), estimator(*subsystem, {0}, {}, settings, 2) {}

  bool prepare(double t, double step, Sample begin) {
    std::vector<Sample> outputs(subsystem->description().outputs.size());
    EXPECT_EQ(subsystem->point_outputs({&begin, 1}, Wanted::values_and_derivatives, outputs),
              Outcome::ok);
    Outcome outcome = Outcome::failed;
    EndGains::Pool pool;
    const bool changed =
        estimator.prepare({t, t + step}, {&begin, 1}, outputs, true, pool, outcome);
    EXPECT_EQ(outcome, Outcome::ok);
    return changed;
  }

  std::vector<Sample> advance(double t, double step, Sample begin, Sample end) {
    std::vector<Sample> outputs(subsystem->description().outputs.size());
    const Polynomial hold = from_guess(Hold::hermite, begin, end, step, true);
    EXPECT_EQ(subsystem->advance({t, t + step}, {&hold, 1}, InputContinuity::broken,
                                 Wanted::values_and_derivatives, outputs),
              Outcome::ok);
    return outputs;
  }

  std::unique_ptr<Subsystem> subsystem;
  Estimator estimator;
};

/// y = c u while u rests: dy/du is c, which decays.
TEST(Estimator, DerivativesByInputsAtRestAreRelearnt) {
  for (const double size : {1e-9, 1.0, 1e6}) {
    OneInput pair(subsystem_of(
        {1.0}, 1, [](double, Span x, Span, Out f) { f[0] = -2 * x[0]; },
        settings_of(IntegratorKind::erk, 1e-12),
        [](double, Span x, Span u, Out y) { y[0] = x[0] * u[0]; }));
    pair.subsystem->start({0.0, h}, 10.0);
    const Sample rest{size, 0.0};
    for (int n = 0; n < 5; ++n) {
      pair.prepare(n * h, h, rest);
      pair.advance(n * h, h, rest, rest);
    }
    EXPECT_TRUE(pair.prepare(5 * h, h, rest));
    EXPECT_NEAR(pair.estimator.gain(0, 0, 0, 0), std::exp(-2 * 5 * h), 1e-8);
  }
}

/// A state that is fast and rests at 0 does not hide that the other's derivative changes.
TEST(Estimator, LargeEntriesHideNoSmallOnes) {
  OneInput pair(subsystem_of(
      {0.0, 1.0}, 1,
      [](double, Span x, Span u, Out f) {
        f[0] = -1e9 * x[0];
        f[1] = -x[1] * x[1] + u[0];
      },
      settings_of(IntegratorKind::cvode_bdf, 1e-10),
      [](double, Span x, Span, Out y) { y[0] = x[1]; }));
  const double step = 1e-3;
  pair.subsystem->start({0.0, step}, 10.0);
  const Sample rest{0.0, 0.0};
  EXPECT_TRUE(pair.prepare(0.0, step, rest));
  pair.advance(0.0, step, rest, rest);
  EXPECT_TRUE(pair.prepare(step, step, rest)) << "-2 x has changed by a thousandth";
}

/// Where f and g are curved, the prediction's error is O(h^4): of y and of y'.
TEST(Estimator, FollowsCurves) {
  const auto error = [](double step, bool values) {
    OneInput pair(subsystem_of(
        {1.0, 0.4}, 1,
        [](double t, Span x, Span u, Out f) {
          f[0] = x[1] - std::sin(x[0]) * u[0];
          f[1] = -x[0] * x[1] + std::cos(t);
        },
        settings_of(IntegratorKind::erk, 1e-13),
        [](double, Span x, Span u, Out y) { y[0] = x[0] * x[1] + u[0] * u[0]; }));
    pair.subsystem->start({0.0, step}, 10.0);
    const auto u = [](double t) { return Sample{1 + std::sin(2 * t), 2 * std::cos(2 * t)}; };
    pair.prepare(0.0, step, u(0));
    const Sample end = u(step);
    std::vector<Sample> predicted(1);
    pair.estimator.predict({&end, 1}, predicted);
    const auto real = pair.advance(0.0, step, u(0), end);
    return values ? std::abs(predicted[0].value - real[0].value)
                  : std::abs(predicted[0].derivative - real[0].derivative);
  };
  for (const bool values : {true, false}) {
    const double order = std::log2(error(0.05, values) / error(0.025, values));
    EXPECT_GT(order, 3.7) << values;
    EXPECT_LT(order, 5.3) << values;
  }
}

}  // namespace estimator_test
}  // namespace concord::test
