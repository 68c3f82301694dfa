#include "cli/check_listing.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <span>

#include "network/start_problem.hpp"
#include "network/strong_components.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr std::size_t some = 3;

/// What is said behind a subsystem's name.
std::string about(const SubsystemDescription& d) {
  const Capabilities& c = d.capabilities;
  std::string text = " (" + d.kind + "): " + std::to_string(d.inputs.size()) + " inputs, " +
                     std::to_string(d.states.size()) + " states, " +
                     std::to_string(d.outputs.size()) + " outputs\n";
  const auto can = [&](const char* what, bool value, const char* behind = ", ") {
    text += std::string(what) + " " + yes_or_no(value) + behind;
  };
  text += "    ";
  can("polynomial inputs", c.polynomial_inputs);
  can("output derivatives", c.output_derivatives);
  can("states", c.states);
  can("state derivatives", c.state_derivatives, ",\n    ");
  can("linearization", c.linearization);
  can("rollback", c.rollback);
  can("equations", c.equations);
  can("output curvatures", c.output_curvatures, "\n");
  for (const std::string& remark : d.remarks) {
    text += "    " + remark + "\n";
  }
  return text;
}

std::string described(const Network& network, const Link& link, std::size_t input) {
  std::string text = network.output_names()[link.output] + " -> " + network.input_names()[input];
  if (link.factor != 1.0) {
    text += " times " + short_number(link.factor);
  }
  if (link.offset != 0.0) {
    text += " plus " + short_number(link.offset);
  }
  return text;
}

/// Poles and zero stability follow from the direct feedthrough of every subsystem in the loop.
std::string unwatched(const Model& model, const Network& network,
                      const FeedthroughComponent& loop) {
  for (const std::size_t output : loop.outputs) {
    const auto& description = model.subsystems[network.subsystem_of_output(output)].description;
    if (!description.capabilities.linearization) {
      return " (subsystem '" + description.name +
             "' gives no linearization: whether the loop becomes singular, and whether explicit "
             "methods are stable on it, is not known)";
    }
  }
  return "";
}

}  // namespace

CheckListing::CheckListing(const Model& model, const Network& network, bool everything)
    : model_(model), network_(network), everything_(everything || model.subsystems.size() <= few) {}

std::string CheckListing::list(const std::vector<std::string>& names) const {
  if (names.empty()) {
    return "none";
  }
  if (everything_ || names.size() <= some + 1) {
    return joined(names);
  }
  return joined(std::span(names).first(some)) + " and " + std::to_string(names.size() - some) +
         " more";
}

void CheckListing::print_lines(const std::vector<std::string>& lines, const char* what) const {
  const std::size_t count = everything_ || lines.size() <= some + 1 ? lines.size() : some;
  for (const std::string& line : std::span(lines).first(count)) {
    std::printf("  %s\n", line.c_str());
  }
  if (count < lines.size()) {
    std::printf("  and %zu more %s (-v lists them)\n", lines.size() - count, what);
  }
}

/// Those that are alike in one entry.
void CheckListing::print_subsystems() const {
  std::printf("subsystems:%s\n",
              everything_ ? "" : (" " + std::to_string(model_.subsystems.size())).c_str());
  std::map<std::string, std::size_t> known;
  std::vector<std::pair<std::string, std::vector<std::string>>> kinds;
  for (const auto& entry : model_.subsystems) {
    const std::string text = about(entry.description);
    const auto [at, is_new] = known.try_emplace(text, kinds.size());
    if (is_new || everything_) {
      at->second = kinds.size();
      kinds.push_back({text, {}});
    }
    kinds[at->second].second.push_back(entry.description.name);
  }
  for (const auto& [text, names] : kinds) {
    std::printf("  %s%s", list(names).c_str(), text.c_str());
  }
}

void CheckListing::print_connections() const {
  std::vector<std::string> connections, starts;
  for (std::size_t i = 0; i < network_.n_inputs(); ++i) {
    if (const auto& link = network_.links()[i]) {
      connections.push_back(described(network_, *link, i));
    } else {
      (everything_ ? connections : starts)
          .push_back("(start value) -> " + network_.input_names()[i]);
    }
  }
  for (const ConnectionEntry& connection : model_.text_connections)
    connections.push_back(connection.from + " -> " + connection.to);
  std::printf("connections:\n");
  print_lines(connections, "connections");
  print_lines(starts, "inputs with their start values");
}

void CheckListing::print_initial() const {
  if (!model_.start_problem) return;
  std::vector<std::string> equations, free;
  for (const StartEquation& each : model_.start_problem->equations)
    equations.push_back(each.text + " (" + each.location + ")");
  for (const FreeStart& each : model_.start_problem->free)
    free.push_back(each.what.name + ", looked for from " + short_number(each.what.given) + " on");
  std::printf("initial equations:\n");
  print_lines(equations, "equations");
  std::printf("free at the start:\n");
  print_lines(free, "of them");
}

void CheckListing::print_feedthrough() const {
  std::vector<std::string> direct;
  for (const auto& [output, input] : network_.feedthrough()) {
    direct.push_back(network_.input_names()[input] + " -> " + network_.output_names()[output]);
  }
  std::printf("direct feedthrough:\n");
  print_lines(direct.empty() ? std::vector<std::string>{"none"} : direct, "of them");
  const auto found = loops();
  std::printf("algebraic loops:\n");
  print_lines(found.empty() ? std::vector<std::string>{"none"} : found, "loops");
}

std::vector<std::string> CheckListing::loops() const {
  std::vector<std::string> result;
  for (const auto& component : network_.components()) {
    if (component.loop) {
      result.push_back(network_.describe_loop(component) + unwatched(model_, network_, component));
    }
  }
  return result;
}

/// Subsystems in an order in which each comes after those whose outputs its own outputs depend on
/// directly; members of a loop in braces.
void CheckListing::print_order() const {
  std::vector<std::vector<std::size_t>> successors(network_.n_subsystems());
  for (const auto& [output, input] : network_.feedthrough()) {
    if (const auto& link = network_.links()[input]) {
      successors[network_.subsystem_of_output(link->output)].push_back(
          network_.subsystem_of_output(output));
    }
  }
  const auto groups = strong_components(successors);
  std::printf("execution order:");
  std::size_t left = everything_ ? groups.size() : std::min(groups.size(), some);
  for (const auto& group : std::span(groups).first(left)) {
    std::vector<std::string> names;
    for (const std::size_t k : group) {
      names.push_back(model_.subsystems[k].description.name);
    }
    const std::string text = everything_ ? joined(names, " ") : list(names);
    std::printf(group.size() > 1 ? " { %s }" : " %s", text.c_str());
  }
  if (left < groups.size()) {
    std::printf(" and %zu more", groups.size() - left);
  }
  std::printf("\n");
}

}  // namespace concord
