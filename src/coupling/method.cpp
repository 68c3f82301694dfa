#include "coupling/method.hpp"

#include "coupling/slow_steps.hpp"
#include "network/schedule/two_groups.hpp"

namespace concord {
namespace {

/// Why the method cannot solve for this constraint's unknown.
std::optional<std::string> constraint_problem(const Method& method,
                                              const SubsystemDescription& constraint) {
  const std::string who = "constraint '" + constraint.name + "'";
  const bool indirect = constraint.constraint == ConstraintKind::indirect;
  if (indirect && method.solve.refuses_indirect != nullptr) {
    return who + method.solve.refuses_indirect;
  }
  if (method.schedule.half_steps_apart) {
    return who +
           " needs the outputs of all subsystems at one time, which -cosim_schedule staggered_grid "
           "doesn't have; use -cosim_schedule parallel";
  }
  if (method.estimate != ErrorEstimate::none && indirect) {
    return who +
           " answers to its unknown through states only, so that the unknown begins every "
           "macro-step "
           "afresh and has no hold whose error -cosim_adapt predictor could estimate; use "
           "-cosim_adapt none or iteration";
  }
  if (indirect && method.hold.ends_with_curvature()) {
    return who +
           " answers to its unknown through states only (index 2 or 3): the macro-step fixes two "
           "numbers of it, and -cosim_hold quintic asks for three; use -cosim_hold hermite";
  }
  if (method.estimate == ErrorEstimate::richardson_modified) {
    return who +
           " is solved for after the macro-step, for which -cosim_adapt richardson_modified has no "
           "constants; use -cosim_adapt richardson";
  }
  if (method.snes_type == "nrichardson") {
    return who + " needs a Newton method (-snes_type newtonls), not a fixed point";
  }
  return std::nullopt;
}

/// Of whom it is asked whether a capability is lacking.
struct Candidate {
  const Method& method;
  bool constrained;  ///< the model has constraints
  const SubsystemDescription& subsystem;

  const Capabilities& has() const { return subsystem.capabilities; }
  bool estimates() const { return has().states && has().linearization; }
  bool compares() const { return method.compares_with_prediction(); }
  /// Without rollback, the subsystem's estimator may take its place in the iteration.
  bool may_be_estimated() const { return method.solve.needs.rollback && method.hold.estimated; }
  bool linearizes() const { return method.solve.needs.linearization || compares(); }
  bool joins_slopes() const { return method.solve.iterates && method.hold.joins_smoothly; }
  bool bends() const { return method.solve.holds_inputs() && method.hold.ends_with_curvature(); }
  bool takes_polynomials() const {
    const bool interpolates = method.solve.from_past && method.schedule.in_sequence;
    return method.solve.holds_inputs() &&
           (!method.hold.is_constant() || method.hold_order > 0 || interpolates ||
            method.smooth_switching || method.balance == Balance::smooth);
  }
};

/// A capability, who lacks it, and what follows on "subsystem 's' offers no".
struct Need {
  bool (*lacking)(const Candidate&);
  const char* what;
};

constexpr Need needs[] = {
    {[](const Candidate& c) { return c.may_be_estimated() && !c.has().rollback && !c.estimates(); },
     "rollback and no states with linearization either"},
    {[](const Candidate& c) {
       return c.method.solve.needs.rollback && !c.may_be_estimated() && !c.has().rollback;
     },
     "rollback"},
    {[](const Candidate& c) { return c.method.takes_steps_twice() && !c.has().rollback; },
     "rollback, which the Richardson estimate needs to take each macro-step twice"},
    {[](const Candidate& c) { return c.linearizes() && !c.has().states; }, "states"},
    {[](const Candidate& c) { return c.linearizes() && !c.has().linearization; }, "linearization"},
    {[](const Candidate& c) { return c.compares() && !c.has().state_derivatives; },
     "state derivatives"},
    {[](const Candidate& c) { return c.compares() && !c.has().point_outputs; },
     "outputs for given inputs at communication points"},
    {[](const Candidate& c) { return c.takes_polynomials() && !c.has().polynomial_inputs; },
     "polynomial inputs"},
    {[](const Candidate& c) {
       return c.method.solve.needs.outputs_of_constraints && c.constrained &&
              !c.has().point_outputs;
     },
     "outputs for given inputs without a step, with which explicit methods solve for the unknowns "
     "of constraints"},
    {[](const Candidate& c) {
       const bool needed = (c.joins_slopes() && c.has().rollback) || c.compares() ||
                           c.method.extrapolation == Extrapolation::hermite;
       return needed && !c.has().output_derivatives;
     },
     "output derivatives"},
    {[](const Candidate& c) { return c.bends() && !c.has().output_curvatures; },
     "second derivatives of its outputs (output_curvatures), of which -cosim_hold quintic is made"},
    {[](const Candidate& c) { return c.method.solve.needs.equations && !c.has().equations; },
     "equations"},
};

/// What a subsystem lacks, a line each.
std::vector<std::string> lacks_of(const Candidate& candidate) {
  const std::string& stands_for = candidate.subsystem.stands_for;
  const std::string who =
      (stands_for.empty() ? "subsystem '" + candidate.subsystem.name + "'" : stands_for) + " ";
  const Method& method = candidate.method;
  std::vector<std::string> lines;
  for (const Need& need : needs) {
    if (need.lacking(candidate)) {
      lines.push_back(who + "offers no " + need.what);
    }
  }
  if (candidate.compares() && method.balance == Balance::constant && !method.consistent_outputs &&
      !candidate.subsystem.feedthrough.empty()) {
    lines.push_back(who +
                    "puts out the jumps of -cosim_balance constant at once (direct feedthrough), "
                    "and -cosim_adapt has no macro-step that is small enough for them (use "
                    "-cosim_balance smooth, or -cosim_consistent_outputs true)");
  }
  return lines;
}

}  // namespace

std::vector<std::string> missing_capabilities(const Method& method, const Model& model) {
  std::vector<std::string> lines;
  const bool constrained = !model.constraints.empty();
  lines = slow_step_problems(method, model);
  if (method.schedule.half_steps_apart && !constrained) {
    if (const auto problem = two_groups(Network(model), given_groups(model)).problem) {
      lines.push_back(*problem);
    }
  }
  for (const auto& entry : model.subsystems) {
    if (!entry.description.constraint) {
      const auto lacking = lacks_of({method, constrained, entry.description});
      lines.insert(lines.end(), lacking.begin(), lacking.end());
    } else if (const auto problem = constraint_problem(method, entry.description)) {
      lines.push_back(entry.location + ": " + *problem);
    }
  }
  return lines;
}

IterationRoles iteration_roles(const Model& model) {
  IterationRoles roles;
  for (const auto& entry : model.subsystems) {
    const auto& description = entry.description;
    if (description.constraint) {
      continue;
    }
    (description.capabilities.rollback ? roles.iterated : roles.estimated)
        .push_back(description.name);
  }
  return roles;
}

}  // namespace concord
