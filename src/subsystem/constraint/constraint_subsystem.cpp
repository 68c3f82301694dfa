#include "subsystem/constraint/constraint_subsystem.hpp"

#include <algorithm>
#include <cmath>

#include "subsystem/equations/expression_list.hpp"

namespace concord {
namespace {

class ConstraintSubsystem : public Subsystem {
 public:
  ConstraintSubsystem(SubsystemDescription description, const ConstraintDescription& constraint)
      : Subsystem(std::move(description)),
        y_(constraint.outputs.size()),
        gamma_(std::vector<PlacedExpression>{{constraint.equation, constraint.place}},
               names(constraint)),
        start_(constraint.start),
        lambda_{constraint.start, 0.0} {}

  void start(const MacroStep& /*first*/, double /*stop*/) override { lambda_ = {start_, 0.0}; }

  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity /*continuity*/, Wanted wanted,
                  std::span<Sample> outputs) override {
    ++counters_.advances;
    ends_.clear();
    for (const Polynomial& input : inputs) {
      ends_.push_back(input.at(step.size()));
    }
    const Sample gamma = evaluate(ends_, wanted);
    lambda_ = ends_[constraint_guess];
    outputs[constraint_value] = lambda_;
    outputs[constraint_residual] = gamma;
    outputs[constraint_corrected] = {lambda_.value - gamma.value,
                                     lambda_.derivative - gamma.derivative};
    return outcome(gamma);
  }

  /// An indirect constraint says nothing about lambda at one point in time: it stays.
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override {
    const Sample gamma = evaluate(inputs, wanted);
    const Sample& guess = inputs[constraint_guess];
    outputs[constraint_value] = guess;
    outputs[constraint_residual] = gamma;
    outputs[constraint_corrected] =
        description_.constraint == ConstraintKind::direct
            ? Sample{guess.value - gamma.value, guess.derivative - gamma.derivative}
            : lambda_;
    return outcome(gamma);
  }

  Outcome derivatives_at(const StatePoint& /*point*/, std::span<double> /*result*/) override {
    return Outcome::ok;
  }

  Outcome outputs_at(const StatePoint& point, std::span<Sample> outputs) override {
    const Sample gamma = evaluate(point.inputs, Wanted::values_and_derivatives);
    const Sample& guess = point.inputs[constraint_guess];
    outputs[constraint_value] = guess;
    outputs[constraint_residual] = gamma;
    outputs[constraint_corrected] = {guess.value - gamma.value,
                                     guess.derivative - gamma.derivative};
    return outcome(gamma);
  }

  std::span<const double> states() const override { return {}; }
  Outcome state_derivatives(std::span<const Sample>, std::span<double>) override {
    return Outcome::ok;
  }

  Outcome linearize(std::span<const Sample> inputs, Linearization& result) override {
    const std::size_t n = inputs.size();
    result.g_u.assign(3 * n, 0.0);
    result.g_t.assign(3, 0.0);
    const Sample gamma = evaluate(inputs, Wanted::values);
    const double guess = inputs[constraint_guess].value;
    result.g = {guess, gamma.value, guess - gamma.value};
    result.g_u[constraint_value * n] = 1.0;
    result.g_u[constraint_corrected * n] = 1.0;
    for (std::size_t i = 1; i < n; ++i) {
      const double slope = partial_derivative(inputs, i);
      result.g_u[constraint_residual * n + i] = slope;
      result.g_u[constraint_corrected * n + i] = -slope;
    }
    return outcome(gamma);
  }

  void save() override { saved_ = lambda_; }
  void restore() override { lambda_ = saved_; }

 private:
  ExpressionNames names(const ConstraintDescription& constraint) {
    ExpressionNames result;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      result.variables.emplace(constraint.outputs[i], &y_[i]);
    }
    return result;
  }

  double gamma() {
    double result = 0.0;
    gamma_.evaluate({&result, 1});
    return result;
  }

  double gamma_at(std::span<const Sample> y, double shift) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      y_[i] = y[i].value + shift * y[i].derivative;
    }
    return gamma();
  }

  /// g'(0) by differences, with an error of order four: exact for polynomials up to degree four.
  template <class Function>
  static double slope_at_zero(double s, const Function& g) {
    return (8.0 * (g(s) - g(-s)) - (g(2.0 * s) - g(-2.0 * s))) / (12.0 * s);
  }

  /// d gamma/d y of input i, the others at `inputs`.
  double partial_derivative(std::span<const Sample> inputs, std::size_t i) {
    for (std::size_t j = 1; j < inputs.size(); ++j) {
      y_[j - 1] = inputs[j].value;
    }
    const double y = inputs[i].value;
    return slope_at_zero(relative_shift * std::max(1.0, std::abs(y)), [&](double shift) {
      y_[i - 1] = y + shift;
      return gamma();
    });
  }

  /// gamma and d/dt gamma = sum_i (d gamma/d y_i) y_i', by a difference along y'.
  Sample evaluate(std::span<const Sample> inputs, Wanted wanted) {
    const auto y = inputs.subspan(1);
    if (wanted == Wanted::values) {
      return {gamma_at(y, 0.0), 0.0};
    }
    double size = 1.0;
    double speed = 1.0;
    for (const Sample& sample : y) {
      size = std::max(size, std::abs(sample.value));
      speed = std::max(speed, std::abs(sample.derivative));
    }
    const double slope = slope_at_zero(relative_shift * size / speed,
                                       [&](double shift) { return gamma_at(y, shift); });
    return {gamma_at(y, 0.0), slope};
  }

  Outcome outcome(const Sample& gamma) {
    if (std::isfinite(gamma.value) && std::isfinite(gamma.derivative)) {
      return Outcome::ok;
    }
    failure_ =
        "the constraint's equation gives " + std::to_string(gamma.value) + ", not a finite number";
    return Outcome::failed;
  }

  static constexpr double relative_shift = 1e-3;  ///< of differences

  std::vector<double> y_;  ///< the equation reads it
  ExpressionList gamma_;
  double start_;
  Sample lambda_, saved_;
  std::vector<Sample> ends_;
};

}  // namespace

SubsystemDescription describe_constraint(const ConstraintDescription& constraint) {
  SubsystemDescription description;
  description.name = constraint.unknown;
  description.kind = "constraint";
  description.constraint = constraint.kind;
  description.inputs.push_back({constraint_guess_name, "", constraint.start});
  for (const auto& output : constraint.outputs) {
    description.inputs.push_back({output, "", std::nullopt});
  }
  description.outputs = {
      {constraint_value_name, ""}, {"residual", ""}, {constraint_corrected_name, ""}};
  description.feedthrough.push_back({constraint_value, constraint_guess});
  const bool direct = constraint.kind == ConstraintKind::direct;
  if (direct) {
    description.feedthrough.push_back({constraint_corrected, constraint_guess});
  }
  for (std::size_t i = 1; i < description.inputs.size(); ++i) {
    description.feedthrough.push_back({constraint_residual, i});
    if (direct) {
      description.feedthrough.push_back({constraint_corrected, i});
    }
  }
  auto& has = description.capabilities;
  has.polynomial_inputs = has.output_derivatives = has.point_outputs = has.rollback = true;
  has.states = has.state_derivatives = has.linearization = has.state_outputs = true;
  return description;
}

std::unique_ptr<Subsystem> make_constraint(SubsystemDescription description,
                                           const ConstraintDescription& constraint) {
  return std::make_unique<ConstraintSubsystem>(std::move(description), constraint);
}

}  // namespace concord
