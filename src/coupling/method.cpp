#include "coupling/method.hpp"

#include "network/schedule/two_groups.hpp"

namespace concord {
namespace {

Method preset(std::string type, Hold hold, Solve solve, std::string snes_type = "",
              Predictor predictor = Predictor::missiles) {
  Method method;
  method.type = std::move(type);
  method.hold = hold;
  method.solve = solve;
  method.snes_type = std::move(snes_type);
  method.predictor = predictor;
  return method;
}

Method in_schedule(Schedule schedule, Method method) {
  method.schedule = schedule;
  return method;
}

}  // namespace

const std::vector<Method>& method_presets() {
  static const std::vector<Method> presets = {
      preset("jfm", Hold::hermite, Solve::snes, "newtonls"),
      preset("missiles", Hold::hermite, Solve::missiles),
      preset("ifosmondi", Hold::hermite, Solve::snes, "nrichardson", Predictor::hold),
      preset("jacobi", Hold::zoh, Solve::none),
      in_schedule(Schedule::sequential, preset("gauss_seidel", Hold::zoh, Solve::none)),
      in_schedule(Schedule::hierarchical, preset("hierarchical", Hold::zoh, Solve::none)),
      in_schedule(Schedule::staggered_grid, preset("staggered_grid", Hold::zoh, Solve::none)),
      preset("extripol", Hold::extripol, Solve::none),
      preset("kuebler_schiehlen", Hold::foh, Solve::snes, "nrichardson", Predictor::hold),
      preset("monolithic", Hold::hermite, Solve::monolithic),
  };
  return presets;
}

namespace {

/// Why the method cannot solve for this constraint's unknown.
std::optional<std::string> constraint_problem(const Method& method,
                                              const SubsystemDescription& constraint) {
  const std::string who = "constraint '" + constraint.name + "'";
  if (method.solve == Solve::none && constraint.constraint == ConstraintKind::indirect) {
    return who +
           " answers to its unknown through states only, so that explicit methods cannot solve for "
           "it at the end of a macro-step; use -cosim_solve snes";
  }
  if (method.solve == Solve::monolithic && constraint.constraint == ConstraintKind::indirect) {
    return who +
           " answers to its unknown through states only (index 2 or 3), so that no equation gives "
           "the unknown at one point in time, as -cosim_type monolithic needs; use -cosim_type jfm";
  }
  if (method.schedule == Schedule::staggered_grid) {
    return who +
           " needs the outputs of all subsystems at one time, which -cosim_schedule staggered_grid "
           "doesn't have; use -cosim_schedule parallel";
  }
  if (method.estimate != ErrorEstimate::none && constraint.constraint == ConstraintKind::indirect) {
    return who +
           " answers to its unknown through states only, so that the unknown begins every "
           "macro-step "
           "afresh and has no hold whose error -cosim_adapt predictor could estimate; use "
           "-cosim_adapt none or iteration";
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

/// What a subsystem lacks, a line each.
std::vector<std::string> lacks_of(const Method& method, bool constrained,
                                  const SubsystemDescription& subsystem) {
  const auto& has = subsystem.capabilities;
  std::vector<std::string> lines;
  const auto lacks = [&](bool needed, bool offered, const char* what) {
    if (needed && !offered) {
      lines.push_back("subsystem '" + subsystem.name + "' offers no " + what);
    }
  };
  const bool estimates = has.states && has.linearization;
  const bool iterative = method.solve == Solve::snes;
  const bool in_hermite = iterative && method.hold == Hold::hermite;
  const bool interpolates =
      method.solve == Solve::none &&
      (method.schedule == Schedule::sequential || method.schedule == Schedule::hierarchical);
  const bool polynomials = method.solve != Solve::monolithic &&
                           (method.hold != Hold::zoh || method.hold_order > 0 || interpolates ||
                            method.smooth_switching || method.balance == Balance::smooth);
  const bool slopes = in_hermite || (iterative && method.hold == Hold::soh);
  const bool compares = method.compares_with_prediction();
  if (in_hermite) {
    lacks(true, has.rollback || estimates, "rollback and no states with linearization either");
  } else {
    lacks(iterative, has.rollback, "rollback");
  }
  lacks(method.takes_steps_twice(), has.rollback,
        "rollback, which the Richardson estimate needs to take each macro-step twice");
  lacks(method.solve == Solve::missiles || compares, has.states, "states");
  lacks(method.solve == Solve::missiles || compares, has.linearization, "linearization");
  lacks(compares, has.state_derivatives, "state derivatives");
  lacks(compares, has.point_outputs, "outputs for given inputs at communication points");
  lacks(polynomials, has.polynomial_inputs, "polynomial inputs");
  lacks(method.solve == Solve::none && constrained, has.point_outputs,
        "outputs for given inputs without a step, with which explicit methods solve for the "
        "unknowns of constraints");
  lacks((slopes && has.rollback) || compares || method.extrapolation == Extrapolation::hermite,
        has.output_derivatives, "output derivatives");
  lacks(method.solve == Solve::monolithic, has.equations, "equations");
  if (compares && method.balance == Balance::constant && !method.consistent_outputs &&
      !subsystem.feedthrough.empty()) {
    lines.push_back("subsystem '" + subsystem.name +
                    "' puts out the jumps of -cosim_balance constant at once (direct feedthrough), "
                    "and -cosim_adapt has no macro-step that is small enough for them (use "
                    "-cosim_balance smooth, or -cosim_consistent_outputs true)");
  }
  return lines;
}

}  // namespace

std::vector<std::string> missing_capabilities(const Method& method, const Model& model) {
  std::vector<std::string> lines;
  const bool constrained = !model.constraints.empty();
  if (method.schedule == Schedule::staggered_grid && !constrained) {
    if (const auto problem = two_groups(Network(model), given_groups(model)).problem) {
      lines.push_back(*problem);
    }
  }
  for (const auto& entry : model.subsystems) {
    if (!entry.description.constraint) {
      const auto lacking = lacks_of(method, constrained, entry.description);
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
