#include "coupling/method.hpp"

#include "network/two_groups.hpp"

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

/// Of what explicit methods alone can do to their inputs.
std::optional<std::string> explicit_contradiction(const Method& method) {
  if (method.solve != Solve::none && method.takes_balance()) {
    return "-cosim_balance and -cosim_record balance are about what holds from the past miss; the "
           "other solves end each macro-step where inputs and outputs agree; use -cosim_solve none "
           "(-cosim_type jacobi), or leave them out";
  }
  if (method.solve != Solve::none && method.smooth_switching) {
    return "-cosim_smooth_switching joins holds from the past, which -cosim_solve none alone has; "
           "use -cosim_type jacobi, or leave it out";
  }
  if (method.balance == Balance::none && method.balance_spread > 1) {
    return "-cosim_balance_spread spreads the corrections of -cosim_balance constant or smooth, of "
           "which neither is asked for; choose one, or leave the spread out";
  }
  if (method.balance == Balance::constant && method.smooth_switching) {
    return "-cosim_balance constant makes inputs jump, which -cosim_smooth_switching is there to "
           "avoid; use -cosim_balance smooth";
  }
  if (method.extrapolation == Extrapolation::hermite &&
      (method.solve != Solve::none || method.hold_order == 0)) {
    return "-cosim_extrapolation hermite extrapolates with slopes of the last communication "
           "points, with -cosim_solve none and -cosim_hold_order 1 to 3; leave it out, or use "
           "-cosim_type jacobi -cosim_hold extrapolate";
  }
  return std::nullopt;
}

/// Of step control by taking each macro-step twice.
std::optional<std::string> richardson_contradiction(const Method& method) {
  if (method.solve != Solve::none || method.hold == Hold::extripol || method.hold_order > 2) {
    return "-cosim_adapt richardson and richardson_modified estimate the error of explicit methods "
           "with inputs extrapolated with order 0 to 2; use -cosim_solve none with -cosim_hold zoh "
           "or extrapolate, or another -cosim_adapt";
  }
  if (method.shapes_inputs()) {
    return "-cosim_adapt richardson and richardson_modified compare plainly extrapolated "
           "macro-steps of two sizes, which -cosim_balance, -cosim_record balance and "
           "-cosim_smooth_switching change; use -cosim_adapt none";
  }
  if (method.estimate != ErrorEstimate::richardson_modified) {
    return std::nullopt;
  }
  if (method.schedule != Schedule::parallel) {
    return "-cosim_adapt richardson_modified has its constants for -cosim_schedule parallel; use "
           "-cosim_adapt richardson";
  }
  if (method.extrapolation == Extrapolation::hermite) {
    return "-cosim_adapt richardson_modified has its constants for -cosim_extrapolation lagrange; "
           "use -cosim_adapt richardson";
  }
  return std::nullopt;
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

std::optional<std::string> contradiction(const Method& method) {
  const bool from_past = method.hold == Hold::extrapolate || method.hold == Hold::extripol;
  if (method.solve == Solve::none && !from_past && method.hold != Hold::zoh) {
    return "-cosim_hold foh, soh and hermite need a guess of the end of the macro-step, which "
           "-cosim_solve none doesn't make; use -cosim_solve snes, or -cosim_hold zoh, extrapolate "
           "or extripol";
  }
  if (method.solve == Solve::snes && from_past) {
    return "-cosim_hold extrapolate and extripol take the inputs from the past, so that "
           "-cosim_solve snes has "
           "nothing to solve for; use -cosim_solve none, or -cosim_hold zoh, foh, soh or hermite";
  }
  if (method.hold == Hold::extripol && method.hold_order > 1) {
    return "-cosim_hold extripol ends each macro-step at a value extrapolated with "
           "-cosim_hold_order 0 or 1, not " +
           std::to_string(method.hold_order) + "; use -cosim_hold extrapolate for higher orders";
  }
  if (method.solve == Solve::missiles && method.hold != Hold::hermite) {
    return "-cosim_solve missiles predicts values and slopes for -cosim_hold hermite; leave the "
           "hold "
           "out, or use -cosim_solve snes";
  }
  if (method.hold_order > 0 && method.solve != Solve::none) {
    return "-cosim_hold_order is the order of extrapolation from the past, with -cosim_solve none; "
           "leave it out, or use -cosim_type jacobi";
  }
  if (method.constraints != Constraints::projection && method.solve != Solve::none) {
    return "-cosim_constraints overlapping and staggered are ways to end an explicit macro-step; "
           "use -cosim_solve none (-cosim_type jacobi), or leave it out: the other solves have the "
           "constraints among their equations";
  }
  if (method.constraints == Constraints::overlapping &&
      method.extrapolation == Extrapolation::hermite) {
    return "-cosim_constraints overlapping finds unknowns without slopes, which "
           "-cosim_extrapolation "
           "hermite needs; use projection, or -cosim_extrapolation lagrange";
  }
  if (method.schedule == Schedule::staggered_grid &&
      (method.solve != Solve::none || method.hold != Hold::zoh || method.hold_order > 0 ||
       method.takes_steps_twice() || method.shapes_inputs())) {
    return "-cosim_schedule staggered_grid holds every input at its value in the middle of the "
           "macro-step, without a guess, extrapolation or a second run; leave -cosim_solve, "
           "-cosim_hold, -cosim_hold_order, -cosim_adapt richardson, -cosim_balance and "
           "-cosim_smooth_switching out (-cosim_type staggered_grid)";
  }
  if (method.schedule != Schedule::parallel && method.solve == Solve::missiles) {
    return "-cosim_solve missiles knows all inputs at t_{N+1} from one linear system before any "
           "subsystem runs, so that -cosim_schedule sequential and hierarchical have nothing to "
           "bring; use -cosim_schedule parallel, or -cosim_solve snes";
  }
  if (method.schedule != Schedule::parallel && method.solve == Solve::monolithic) {
    return "-cosim_type monolithic is one system of equations, without an order of subsystems; "
           "leave "
           "-cosim_schedule out";
  }
  if (method.solve == Solve::monolithic && method.estimate != ErrorEstimate::none) {
    return "-cosim_adapt estimates errors of the coupling, of which -cosim_type monolithic has "
           "none; "
           "leave it out";
  }
  if (const auto reason = explicit_contradiction(method)) {
    return reason;
  }
  return method.takes_steps_twice() ? richardson_contradiction(method) : std::nullopt;
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
