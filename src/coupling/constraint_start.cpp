#include "coupling/constraint_start.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "concord/errors.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// What rounding leaves of start values that were meant to be consistent.
constexpr double rounding = 1e-9;

/// Change of d gamma/dt, relative to |y'|, from which it counts as an answer to the unknown.
constexpr double answer = 1e-7;

double largest(std::span<const Sample> samples, double Sample::*part) {
  double result = 0.0;
  for (const Sample& sample : samples) {
    result = std::max(result, std::abs(sample.*part));
  }
  return result;
}

/// gamma and d gamma/dt of this rank's constraints at the start.
class StartResiduals {
 public:
  StartResiduals(RankNetwork& subsystems, const ConstraintRows& constraints,
                 const CommunicationPoint& start)
      : subsystems_(subsystems),
        constraints_(constraints),
        inputs_(start.inputs),
        outputs_(start.outputs) {}

  bool slopes_are_there() const {
    bool all = true;
    for (const std::size_t k : subsystems_.all()) {
      const auto& has = subsystems_.own(k).description().capabilities;
      all = all && has.output_derivatives && has.point_outputs;
    }
    return agree_on_largest(subsystems_.comm(), all ? 0 : 1) == 0;
  }

  /// With what the unknowns feed changed by about `change`, each by another amount. Collective.
  std::vector<Sample> evaluate(const CommunicationPoint& start, double change, Wanted wanted) {
    inputs_ = start.inputs;
    const auto& connected = subsystems_.connected_inputs();
    for (std::size_t j = 0; j < connected.size(); ++j) {
      if (constraints_.begins_afresh(j)) {
        const double uneven = 1.0 + std::fmod(0.618 * static_cast<double>(j), 1.0);
        double& value = inputs_[connected[j]].value;
        value += change * uneven * std::max(1.0, std::abs(value));
      }
    }
    for (const std::size_t k : subsystems_.all()) {
      subsystems_.point_outputs(k, inputs_, wanted, outputs_);
    }
    subsystems_.exchange(outputs_, inputs_);
    std::vector<Sample> result;
    for (const std::size_t k : subsystems_.all()) {
      if (subsystems_.own(k).description().constraint == ConstraintKind::indirect) {
        subsystems_.point_outputs(k, inputs_, wanted, outputs_);
        result.push_back(outputs_[subsystems_.outputs_of(k).first + constraint_residual]);
      }
    }
    return result;
  }

  /// The outputs in the equation of own constraint k, after `evaluate`.
  std::span<const Sample> in_equation(std::size_t k) const {
    const IndexRange in = subsystems_.inputs_of(k);
    return std::span(inputs_).subspan(in.first + 1, in.size() - 1);
  }

 private:
  RankNetwork& subsystems_;
  const ConstraintRows& constraints_;
  std::vector<Sample> inputs_, outputs_;
};

std::string violation(const std::string& name, double time, const char* what, double found,
                      double allowed, const char* remedy) {
  std::ostringstream text;
  text << "constraint '" << name << "': the start values violate " << what << ", which is " << found
       << " at t = " << time << " s and must be 0 (to " << allowed << "); " << remedy;
  return text.str();
}

}  // namespace

void refuse_inconsistent_start(RankNetwork& subsystems, const ConstraintRows& constraints,
                               double rtol, double atol, const CommunicationPoint& start) {
  if (!constraints.any_indirect()) {
    return;
  }
  StartResiduals residuals(subsystems, constraints, start);
  const bool with_slopes = residuals.slopes_are_there();
  const Wanted wanted = with_slopes ? Wanted::values_and_derivatives : Wanted::values;
  const auto changed = residuals.evaluate(start, 1.0, wanted);
  const auto gamma = residuals.evaluate(start, 0.0, wanted);
  const double relative = std::max(rtol, rounding);
  std::optional<std::string> problem;
  std::size_t c = 0;
  for (const std::size_t k : subsystems.all()) {
    const auto& description = subsystems.own(k).description();
    if (description.constraint != ConstraintKind::indirect) {
      continue;
    }
    const auto y = residuals.in_equation(k);
    const double speed = largest(y, &Sample::derivative);
    const double allowed = relative * largest(y, &Sample::value) + atol;
    const double allowed_slope = relative * speed + atol;
    const bool answers = std::abs(changed[c].derivative - gamma[c].derivative) > answer * speed;
    if (!(std::abs(gamma[c].value) <= allowed)) {
      problem = violation(description.name, start.time, "its equation", gamma[c].value, allowed,
                          "give start values of states or parameters that satisfy it");
    } else if (with_slopes && !answers && !(std::abs(gamma[c].derivative) <= allowed_slope)) {
      problem = violation(description.name, start.time, "the time derivative of its equation",
                          gamma[c].derivative, allowed_slope,
                          "give start values of velocities that satisfy it");
    }
    ++c;
  }
  if (const auto message = agree_on_text(subsystems.comm(), problem)) {
    throw InputError(*message);
  }
}

}  // namespace concord
