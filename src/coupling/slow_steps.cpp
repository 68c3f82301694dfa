#include "coupling/slow_steps.hpp"

#include <algorithm>
#include <cstddef>

namespace concord {
namespace {

/// "subsystem 'a' and 3 more take steps of their own (step:), ", all of which have them.
std::string takes_own_steps(const SubsystemEntry& first, std::ptrdiff_t slow) {
  const std::string who = "subsystem '" + first.description.name + "'";
  return slow == 1
             ? who + " takes steps of its own (step:), "
             : who + " and " + std::to_string(slow - 1) + " more take steps of their own (step:), ";
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

bool is_in_loop(const Network& network, std::size_t subsystem) {
  const auto& components = network.components();
  return std::any_of(components.begin(), components.end(), [&](const FeedthroughComponent& one) {
    return one.loop && std::any_of(one.outputs.begin(), one.outputs.end(), [&](std::size_t output) {
             return network.subsystem_of_output(output) == subsystem;
           });
  });
}

/// Of one of those with steps of their own.
std::string problem_of_subsystem(const Network& network, std::size_t k, const Capabilities& has) {
  if (!has.polynomial_inputs) {
    return "but offers no polynomial inputs, with which it could follow them; leave step: out";
  }
  if (!has.any_step) {
    return "but cannot change their size, as it must at the start, at events and at the end; "
           "leave step: out";
  }
  if (is_in_loop(network, k)) {
    return "but takes part in an algebraic loop, which is solved at every communication point; "
           "leave step: out";
  }
  return "";
}

}  // namespace

std::vector<std::string> slow_step_problems(const Method& method, const Model& model) {
  std::vector<std::string> lines;
  const auto& all = model.subsystems;
  const auto is_slow = [](const SubsystemEntry& entry) { return entry.step > 0.0; };
  const auto first = std::find_if(all.begin(), all.end(), is_slow);
  if (first == all.end()) {
    return lines;
  }
  const auto slow = std::count_if(first, all.end(), is_slow);
  for (const std::string& problem : {problem_of_method(method), problem_of_model(model)}) {
    if (!problem.empty()) {
      lines.push_back(takes_own_steps(*first, slow) + problem);
    }
  }
  const Network network(model);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const SubsystemDescription& d = all[k].description;
    const std::string problem =
        is_slow(all[k]) ? problem_of_subsystem(network, k, d.capabilities) : "";
    if (!problem.empty()) {
      lines.push_back(takes_own_steps(all[k], 1) + problem);
    }
  }
  return lines;
}

}  // namespace concord
