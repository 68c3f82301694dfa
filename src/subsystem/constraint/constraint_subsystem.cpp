#include "subsystem/constraint/constraint_subsystem.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "expression/differentiation.hpp"
#include "expression/expression_list.hpp"
#include "support/shared.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

ExpressionNames names(const ConstraintDescription& constraint) {
  ExpressionNames result;
  for (std::uint32_t i = 0; i < constraint.outputs.size(); ++i) {
    result.variables.emplace(constraint.outputs[i], i);
  }
  result.constants = constraint.constants;
  result.functions = constraint.functions;
  return result;
}

/// Of the equation by time, over all y, then y', then y''.
Evaluation second_derivative(const ConstraintDescription& constraint) {
  const auto n = static_cast<std::uint32_t>(constraint.outputs.size());
  ExpressionNames known = names(constraint);
  ExpressionGraph graph;
  std::vector<NodeId> velocities;
  for (std::uint32_t i = 0; i < 2 * n; ++i) velocities.push_back(graph.variable(n + i));
  TotalDerivative derivative(graph, velocities);
  const Expression equation = read_whole_expression({constraint.equation, constraint.place}, known);
  const NodeId bend = derivative.of(derivative.of(graph.add(equation, known)));
  std::vector<double> constants;
  Program program(graph, std::vector{bend}, 3 * static_cast<std::size_t>(n), constants);
  return {Shared<Program>::one_like(std::move(program)), constants};
}

class ConstraintSubsystem : public Subsystem {
 public:
  ConstraintSubsystem(SubsystemDescription description, const ConstraintDescription& constraint)
      : Subsystem(std::move(description)),
        constraint_(constraint),
        gamma_(std::vector<PlacedExpression>{{constraint.equation, constraint.place}},
               names(constraint), constraint.outputs.size()),
        direction_(constraint.outputs.size()) {}

  void start(const MacroStep& /*first*/, double /*stop*/) override {}

  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity /*continuity*/, Wanted wanted,
                  std::span<Sample> outputs) override {
    ++counters_.advances;
    ends_.clear();
    for (const Polynomial& input : inputs) {
      ends_.push_back(input.at(step.size()));
    }
    const Sample gamma = evaluate(ends_, wanted);
    put_out(ends_[constraint_guess], gamma, true, outputs);
    corrects_ = true;
    return outcome(gamma);
  }

  /// lambda stays: an indirect constraint says nothing about it at one point in time, and a direct
  /// one has been solved for it there, beside which gamma's rounding may be large in another unit.
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override {
    const Sample gamma = evaluate(inputs, wanted);
    put_out(inputs[constraint_guess], gamma, false, outputs);
    corrects_ = false;
    return outcome(gamma);
  }

  Outcome output_curvatures(std::span<const Sample> inputs, std::span<double> result) override {
    return curvatures(inputs, corrects_, result);
  }
  Outcome output_curvatures_at(const StatePoint& point, std::span<double> result) override {
    return curvatures(point.inputs, true, result);
  }

  Outcome derivatives_at(const StatePoint& /*point*/, std::span<double> /*result*/) override {
    return Outcome::ok;
  }

  Outcome outputs_at(const StatePoint& point, std::span<Sample> outputs) override {
    const Sample gamma = evaluate(point.inputs, Wanted::values_and_derivatives);
    put_out(point.inputs[constraint_guess], gamma, true, outputs);
    return outcome(gamma);
  }

  Outcome linearize_at(const StatePoint& point, Linearization& result) override {
    return linearize(point.inputs, result);
  }

  Outcome follow(const MacroStep& /*step*/, std::span<const Polynomial> /*inputs*/,
                 const IntegratedWay& /*way*/) override {
    ++counters_.advances;
    return Outcome::ok;
  }

  bool retraces() const override { return true; }
  Outcome retrace(const MacroStep& step, std::span<const Polynomial> inputs,
                  std::span<double> /*states*/, std::span<Sample> outputs) override {
    ends_.clear();
    for (const Polynomial& input : inputs) {
      ends_.push_back(input.at(step.size()));
    }
    const Sample gamma = evaluate(ends_, Wanted::values);
    put_out(ends_[constraint_guess], gamma, true, outputs);
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
    if (outcome(gamma) == Outcome::failed) return Outcome::failed;
    const std::span<const double> slopes = gamma_.differentiate();
    for (std::size_t k = 0; k < slopes.size(); ++k) {
      const std::size_t input = 1 + gamma_.entries()[k].variable;
      if (!std::isfinite(slopes[k])) return fail("derivative by " + output(input), slopes[k]);
      result.g_u[constraint_residual * n + input] = slopes[k];
      result.g_u[constraint_corrected * n + input] = -slopes[k];
    }
    return Outcome::ok;
  }

  void save() override {}
  void restore() override {}
  bool io(Archive& archive) override {
    CONCORD_MEMBERS(archive, corrects_, counters_);
    return true;
  }
  int memory_version() const override { return 3; }
  bool start_from(double /*t*/, std::span<const double> /*x*/,
                  std::span<const std::byte> /*memory*/) override {
    return true;
  }

 private:
  static void put_out(const Sample& guess, const Sample& gamma, bool corrects,
                      std::span<Sample> outputs) {
    outputs[constraint_value] = guess;
    outputs[constraint_residual] = gamma;
    outputs[constraint_corrected] =
        corrects ? Sample{guess.value - gamma.value, guess.derivative - gamma.derivative} : guess;
  }

  /// gamma and, if wanted, gamma' = sum_i (d gamma/d y_i) y_i'.
  Sample evaluate(std::span<const Sample> inputs, Wanted wanted) {
    const auto y = inputs.subspan(1);
    std::transform(y.begin(), y.end(), gamma_.point().begin(),
                   [](const Sample& sample) { return sample.value; });
    Sample result;
    gamma_.evaluate({&result.value, 1});
    if (wanted == Wanted::values_and_derivatives) {
      std::transform(y.begin(), y.end(), direction_.begin(),
                     [](const Sample& sample) { return sample.derivative; });
      gamma_.slopes(direction_, {&result.derivative, 1});
    }
    return result;
  }

  /// lambda'', gamma'' and lambda'' corrected by it or as it is.
  Outcome curvatures(std::span<const Sample> inputs, bool corrects, std::span<double> result) {
    if (!bend_) bend_.emplace(second_derivative(constraint_));
    const std::span<double> at = bend_->variables();
    const std::size_t n = inputs.size() - 1;
    for (std::size_t i = 0; i < n; ++i) {
      at[i] = inputs[i + 1].value;
      at[n + i] = inputs[i + 1].derivative;
      at[2 * n + i] = inputs[i + 1].curvature;
    }
    double gamma = 0.0;
    bend_->run({&gamma, 1});
    const double guess = inputs[constraint_guess].curvature;
    result[constraint_value] = guess;
    result[constraint_residual] = gamma;
    result[constraint_corrected] = corrects ? guess - gamma : guess;
    return std::isfinite(gamma) ? Outcome::ok : fail("second derivative", gamma);
  }

  Outcome outcome(const Sample& gamma) {
    if (!std::isfinite(gamma.value)) return fail("value", gamma.value);
    return std::isfinite(gamma.derivative) ? Outcome::ok : fail("slope", gamma.derivative);
  }

  Outcome fail(const std::string& what, double found) {
    failure_ = "the " + what + " of the constraint's equation is " + short_number(found) +
               ", not a finite number";
    for (std::size_t i = 1; i < description_.inputs.size(); ++i) {
      failure_ += (i == 1 ? "; " : ", ") + output(i) + " = " + short_number(gamma_.point()[i - 1]);
    }
    return Outcome::failed;
  }

  const std::string& output(std::size_t input) const { return description_.inputs[input].name; }

  ConstraintDescription constraint_;
  ExpressionList gamma_;            ///< over the outputs in the equation
  std::optional<Evaluation> bend_;  ///< gamma'' over y, y', y''; once it has been asked for
  bool corrects_ = true;            ///< as the last outputs were
  std::vector<double> direction_;
  std::vector<Sample> ends_;
};

}  // namespace

SubsystemDescription describe_constraint(const ConstraintDescription& constraint) {
  SubsystemDescription description;
  description.name = constraint.unknown;
  description.kind = "constraint";
  description.stands_for = "constraint '" + constraint.unknown + "'";
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
  has.output_curvatures = direct;
  return description;
}

std::unique_ptr<Subsystem> make_constraint(SubsystemDescription description,
                                           const ConstraintDescription& constraint) {
  return std::make_unique<ConstraintSubsystem>(std::move(description), constraint);
}

}  // namespace concord
