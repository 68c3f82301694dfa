#include "coupling/points/constraint_start.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "concord/errors.hpp"
#include "coupling/points/hidden_constraints.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// What rounding leaves of start values that were meant to be consistent.
constexpr double rounding = 1e-9;

/// sum_i |d gamma/dy_i| of values or slopes in the equation of own constraint k.
double terms(const RankNetwork& subsystems, std::size_t k, const CommunicationPoint& point,
             double Sample::*part) {
  const IndexRange in = subsystems.inputs_of(k);
  double sum = 0.0;
  for (std::size_t i = in.first + 1; i < in.last; ++i) {
    sum += subsystems.equation_weights()[i] * std::abs(point.inputs[i].*part);
  }
  return sum;
}

std::string violation(const std::string& name, double time, const char* what, double found,
                      double allowed, const char* remedy) {
  std::ostringstream text;
  text << "constraint '" << name << "': the start values violate " << what << ", which is " << found
       << " at t = " << time << " s and must be 0 (to " << allowed << "); " << remedy;
  return text.str();
}

/// What start values of own constraint k violate, if anything.
class StartCheck {
 public:
  StartCheck(const RankNetwork& subsystems, const Tolerance& tolerance,
             const CommunicationPoint& start)
      : subsystems_(subsystems), tolerance_(tolerance), start_(start) {}

  std::optional<std::string> value(std::size_t k, const Sample& gamma) const {
    const double allowed = allowed_value(k);
    if (std::abs(gamma.value) <= allowed) {
      return std::nullopt;
    }
    return violation(name(k), start_.time, "its equation", gamma.value, allowed,
                     "give start values of states or parameters that satisfy it");
  }

  std::optional<std::string> slope(std::size_t k, const Sample& gamma) const {
    const double allowed = allowed_slope(k);
    if (std::abs(gamma.derivative) <= allowed) {
      return std::nullopt;
    }
    return violation(name(k), start_.time, "the time derivative of its equation", gamma.derivative,
                     allowed, "give start values of velocities that satisfy it");
  }

 private:
  const std::string& name(std::size_t k) const { return subsystems_.own(k).description().name; }
  double relative() const { return std::max(tolerance_.relative, rounding); }
  double given() const { return tolerance_.of_size ? 0.0 : tolerance_.absolute; }
  double allowed_value(std::size_t k) const {
    return relative() * terms(subsystems_, k, start_, &Sample::value) + given();
  }
  /// What is left of velocities at rest may be what rounding of positions makes of them.
  double allowed_slope(std::size_t k) const {
    const double still = rounding * terms(subsystems_, k, start_, &Sample::value);
    return relative() * terms(subsystems_, k, start_, &Sample::derivative) +
           still / subsystems_.step() + given();
  }

  const RankNetwork& subsystems_;
  const Tolerance& tolerance_;
  const CommunicationPoint& start_;
};

}  // namespace

void start_constraints(RankNetwork& subsystems, ConsistentInputs& consistent,
                       const ConstraintRows& constraints, const Tolerance& tolerance,
                       CommunicationPoint& start) {
  subsystems.weigh_equations(start.inputs);
  if (!constraints.any_indirect()) {
    return;
  }
  HiddenConstraints hidden(subsystems, consistent, start);
  const auto gamma = hidden.equations();
  const auto answers = hidden.answers();
  const StartCheck check(subsystems, tolerance, start);
  std::optional<std::string> problem;
  for (const std::size_t k : subsystems.all()) {
    if (!gamma || subsystems.own(k).description().constraint != ConstraintKind::indirect) {
      continue;
    }
    const std::size_t c = hidden.position(k);
    if (const auto found = check.value(k, (*gamma)[c])) {
      problem = found;
    } else if (hidden.slopes_are_there() && !answers[c]) {
      const auto slope = check.slope(k, (*gamma)[c]);
      problem = slope ? slope : problem;
    }
  }
  if (const auto message = agree_on_text(subsystems.comm(), problem)) {
    throw InputError(*message);
  }
  hidden.solve(start);
}

void restart_constraints(RankNetwork& subsystems, ConsistentInputs& consistent,
                         const ConstraintRows& constraints, CommunicationPoint& point) {
  subsystems.weigh_equations(point.inputs);
  if (constraints.any_indirect()) {
    HiddenConstraints hidden(subsystems, consistent, point);
    hidden.answers();
    hidden.solve(point);
  }
}

}  // namespace concord
