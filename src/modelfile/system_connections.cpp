#include "modelfile/system_connections.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "concord/errors.hpp"
#include "expression/expression_scan.hpp"
#include "subsystem/text_ports.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// Inputs, or outputs, of all subsystems and systems.
class Terminals {
 public:
  explicit Terminals(const char* role) : role_(role) {}

  void add_variable(const std::string& name) { variables_.insert(name); }
  void add(const SystemEntry& system, const std::vector<SystemTerminal>& terminals) {
    systems_.emplace(system.name, &terminals);
    for (const SystemTerminal& terminal : terminals)
      leading_.emplace(system.name + "." + terminal.name, &terminal);
  }

  void refuse_dead_ends() const {
    for (const auto& [name, terminal] : leading_)
      for (const std::string& inner : terminal->inner)
        if (!leading_.contains(inner) && !variables_.contains(inner))
          throw InputError(terminal->location + ": " + role_ + " " + in_quotes(name) +
                           " of a system leads to " + in_quotes(inner) + ", which is no " + role_ +
                           " of a subsystem within; " +
                           known(std::string(role_) + "s", inner, within(name)));
  }

  /// What stands at the end of the way within; the name itself where it is no system's.
  std::vector<std::string> ends(const std::string& name, const Location& location) const {
    std::vector<std::string> result, open = {name};
    while (!open.empty()) {
      const std::string next = std::move(open.back());
      open.pop_back();
      const auto found = leading_.find(next);
      if (found == leading_.end())
        result.push_back(next);
      else
        open.insert(open.end(), found->second->inner.rbegin(), found->second->inner.rend());
    }
    if (result == std::vector{name} && !variables_.contains(name)) refuse_strange(name, location);
    return result;
  }

 private:
  /// All that begin as the name of a system's terminal does.
  std::vector<std::string> within(const std::string& name) const {
    const std::string begin = name.substr(0, name.rfind('.') + 1);
    std::vector<std::string> result;
    for (const std::string& variable : variables_)
      if (variable.starts_with(begin)) result.push_back(variable);
    std::ranges::sort(result);
    return result;
  }

  /// Where it would be a system's own.
  void refuse_strange(const std::string& name, const Location& location) const {
    const std::string system = name.substr(0, name.rfind('.'));
    const auto found = systems_.find(system);
    if (found != systems_.end())
      throw InputError(location + ": the system " + in_quotes(system) + " has no " + role_ + " " +
                       in_quotes(name.substr(system.size() + 1)) + "; " +
                       known(std::string(role_) + "s", name.substr(system.size() + 1),
                             names_of(*found->second)));
  }

  const char* role_;
  std::unordered_set<std::string> variables_;
  std::unordered_map<std::string, const SystemTerminal*> leading_;
  std::unordered_map<std::string, const std::vector<SystemTerminal>*> systems_;
};

/// The equation in names of subsystems.
std::string led_inside(const ConstraintEntry& constraint, const Terminals& outputs) {
  std::string result;
  std::size_t at = 0;
  for (const NameUse& use : names_used(constraint.equation)) {
    if (use.called || use.name.find('.') == std::string::npos) continue;
    result += constraint.equation.substr(at, use.position - at) +
              outputs.ends(use.name, constraint.equation_location).front();
    at = use.position + use.length;
  }
  return result + constraint.equation.substr(at);
}

}  // namespace

void connect_systems(Model& model) {
  if (model.systems.empty()) return;
  Terminals inputs("input"), outputs("output");
  for (const SubsystemEntry& entry : model.subsystems) {
    const SubsystemDescription& d = entry.description;
    for (const auto& input : d.inputs) inputs.add_variable(d.name + "." + input.name);
    for (const auto& output : d.outputs) outputs.add_variable(d.name + "." + output.name);
    if (!entry.type->texts) continue;
    for (const auto& input : entry.type->texts->inputs)
      inputs.add_variable(d.name + "." + input.name);
    for (const auto& output : entry.type->texts->outputs)
      outputs.add_variable(d.name + "." + output.name);
  }
  for (const SystemEntry& system : model.systems) {
    inputs.add(system, system.inputs);
    outputs.add(system, system.outputs);
  }
  inputs.refuse_dead_ends();
  outputs.refuse_dead_ends();
  std::vector<ConnectionEntry> connections;
  for (const ConnectionEntry& connection : model.connections) {
    for (std::string& to : inputs.ends(connection.to, connection.location)) {
      ConnectionEntry& led = connections.emplace_back(connection);
      led.from = outputs.ends(connection.from, connection.location).front();
      led.to = std::move(to);
    }
  }
  model.connections = connections;
  for (ConstraintEntry& constraint : model.constraints) {
    constraint.equation = led_inside(constraint, outputs);
    std::vector<ConstraintFeed> feeds;
    for (const ConstraintFeed& feed : constraint.feeds)
      for (const std::string& input : inputs.ends(feed.input, feed.location))
        feeds.push_back({input, feed.factor, feed.location});
    constraint.feeds = std::move(feeds);
  }
}

}  // namespace concord
