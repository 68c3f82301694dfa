#include "coupling/slow_steps.hpp"

#include <algorithm>

namespace concord {
namespace {

std::string takes_own_steps(const SubsystemEntry& entry) {
  return "subsystem '" + entry.description.name + "' takes steps of its own (step:), ";
}

/// What the method does to macro-steps or inputs that a window of several cannot have.
std::string problem_of_method(const Method& method) {
  if (!method.solve.from_past) {
    return "which explicit methods alone give; leave step: out, or use -cosim_type jacobi, "
           "gauss_seidel or hierarchical";
  }
  if (method.schedule.half_steps_apart) {
    return "which -cosim_schedule staggered_grid has no place for; leave step: out, or use another "
           "schedule";
  }
  if (method.shapes_inputs()) {
    return "whose inputs -cosim_balance, -cosim_record balance and -cosim_smooth_switching cannot "
           "shape; leave these out, or step:";
  }
  return "";
}

/// What happens, or must hold, at points within a window.
std::string problem_of_model(const Model& model) {
  if (!model.constraints.empty()) {
    return "but the model has constraints, which are solved at every communication point; leave "
           "step: out";
  }
  for (const SubsystemEntry& other : model.subsystems) {
    const SubsystemDescription& d = other.description;
    if (d.events) {
      return "but " + (d.stands_for.empty() ? "subsystem '" + d.name + "'" : d.stands_for) +
             " has events, which cannot be told within them; leave step: out, or write smooth "
             "expressions (no_event), times that are known as events: of the model";
    }
  }
  return "";
}

std::string problem_of_subsystem(const SubsystemDescription& subsystem) {
  if (!subsystem.capabilities.polynomial_inputs) {
    return "but offers no polynomial inputs, with which it could follow them; leave step: out";
  }
  if (!subsystem.capabilities.any_step) {
    return "but cannot change their size, as it must at the start, at events and at the end; "
           "leave step: out";
  }
  return "";
}

bool is_in_loop(const Network& network, std::size_t subsystem) {
  const auto& components = network.components();
  return std::any_of(components.begin(), components.end(), [&](const FeedthroughComponent& one) {
    return one.loop && std::any_of(one.outputs.begin(), one.outputs.end(), [&](std::size_t output) {
             return network.subsystem_of_output(output) == subsystem;
           });
  });
}

}  // namespace

std::vector<std::string> slow_step_problems(const Method& method, const Model& model) {
  std::vector<std::string> lines;
  const auto is_slow = [](const SubsystemEntry& entry) { return entry.step > 0.0; };
  if (std::none_of(model.subsystems.begin(), model.subsystems.end(), is_slow)) {
    return lines;
  }
  const Network network(model);
  const std::string by_method = problem_of_method(method), by_model = problem_of_model(model);
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    const SubsystemEntry& entry = model.subsystems[k];
    if (!is_slow(entry)) {
      continue;
    }
    for (const std::string& problem :
         {by_method, by_model, problem_of_subsystem(entry.description),
          std::string(is_in_loop(network, k) ? "but takes part in an algebraic loop, which is "
                                               "solved at every communication point; leave step: "
                                               "out"
                                             : "")}) {
      if (!problem.empty()) {
        lines.push_back(takes_own_steps(entry) + problem);
      }
    }
  }
  return lines;
}

}  // namespace concord
