#include "cli/whole_variables.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "subsystem/equations/equations_description.hpp"
#include "subsystem/fmu/fmu.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Names = std::vector<std::string>;

bool is_in(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
  return text;
}

class WholeVariables {
 public:
  explicit WholeVariables(SimulationCore& simulation)
      : simulation_(simulation),
        model_(simulation.plan().model),
        network_(simulation.plan().network) {}

  std::vector<WholeVariable> list() {
    add({.name = "time", .role = WholeRole::time, .source = {}, .unit = "s"});
    for (std::size_t k = 0; k < model_.subsystems.size(); ++k) add_inputs(k);
    for (std::size_t k = 0; k < model_.subsystems.size(); ++k) add_outputs(k);
    for (std::size_t k = 0; k < model_.subsystems.size(); ++k) add_states(k);
    for (const auto& [name, value] : model_.parameters)
      add({.name = fresh("parameters." + name, "_parameter"),
           .role = WholeRole::parameter,
           .source = "parameters." + name,
           .unit = {},
           .start = value});
    for (const SubsystemEntry& entry : model_.subsystems) add_numbers(entry);
    add_estimate();
    return std::move(variables_);
  }

 private:
  void add(WholeVariable variable) {
    taken_.insert(variable.name);
    variables_.push_back(std::move(variable));
  }
  std::string fresh(std::string name, const char* ending) const {
    while (taken_.contains(name)) name += ending;
    return name;
  }
  void add_inputs(std::size_t k);
  void add_outputs(std::size_t k);
  void add_states(std::size_t k);
  void add_numbers(const SubsystemEntry& entry);
  void add_number(const SubsystemEntry& entry, const std::string& name, double value,
                  const std::string& unit, bool parameter);
  void add_estimate();
  std::optional<std::vector<std::size_t>> inputs_behind(std::size_t output) const;
  std::set<std::string> themselves(std::size_t k);
  double value(Variable::Kind kind, std::size_t index) {
    const Variable variable(kind, index);
    double result = 0.0;
    simulation_.read(std::span(&variable, 1), std::span(&result, 1));
    return result;
  }

  SimulationCore& simulation_;
  const Model& model_;
  const Network& network_;
  std::vector<WholeVariable> variables_;
  std::set<std::string> taken_;
  std::map<std::string, std::size_t> positions_;  ///< of inputs, and of outputs that may start
};

void WholeVariables::add_inputs(std::size_t k) {
  const SubsystemEntry& entry = model_.subsystems[k];
  const auto& inputs = entry.description.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t index = network_.inputs_of(k).first + i;
    if (!entry.written || network_.links()[index] || !inputs[i].start) continue;
    const std::string& name = network_.input_names()[index];
    positions_[name] = variables_.size();
    add({.name = name,
         .role = WholeRole::input,
         .source = name,
         .unit = inputs[i].unit,
         .start = value(Variable::Kind::input, index),
         .held = inputs[i].kind != SignalKind::continuous,
         .nominal = inputs[i].nominal});
  }
}

/// Outputs that are the state or discrete variable of their name: by their equations; of others by
/// what is there at the start.
std::set<std::string> WholeVariables::themselves(std::size_t k) {
  const SubsystemEntry& entry = model_.subsystems[k];
  const SubsystemDescription& d = entry.description;
  std::map<std::string, std::optional<std::size_t>> known;  // and which state
  for (std::size_t i = 0; i < d.states.size(); ++i)
    known[d.states[i].name] = network_.states_of(k).first + i;
  std::set<std::string> found;
  if (entry.equations) {
    for (const auto& discrete : entry.equations->discrete) known[discrete.name];
    for (const auto& output : entry.equations->outputs)
      if (without_blanks(output.text) == output.name && known.contains(output.name))
        found.insert(output.name);
    return found;
  }
  for (std::size_t i = 0; i < d.outputs.size(); ++i) {
    const auto state = known.find(d.outputs[i].name);
    if (state != known.end() && value(Variable::Kind::state, *state->second) ==
                                    value(Variable::Kind::output, network_.outputs_of(k).first + i))
      found.insert(d.outputs[i].name);
  }
  return found;
}

void WholeVariables::add_outputs(std::size_t k) {
  const SubsystemEntry& entry = model_.subsystems[k];
  const SubsystemDescription& d = entry.description;
  if (!entry.written && !d.constraint) return;
  const std::set<std::string> own = themselves(k);
  for (std::size_t i = 0; i < d.outputs.size(); ++i) {
    const std::string source = d.name + "." + d.outputs[i].name;
    if (own.contains(d.outputs[i].name)) positions_[source] = variables_.size();
    add({.name = fresh(source, "_output"),
         .role = WholeRole::output,
         .source = source,
         .unit = d.outputs[i].unit,
         .held = d.outputs[i].kind != SignalKind::continuous,
         .nominal = d.outputs[i].nominal,
         .depends_on = inputs_behind(network_.outputs_of(k).first + i)});
  }
}

/// What an output depends on without delay, by way of connections.
std::optional<std::vector<std::size_t>> WholeVariables::inputs_behind(std::size_t output) const {
  if (network_.has_constraints()) return std::nullopt;
  std::set<std::size_t> seen = {output}, inputs;
  for (std::vector<std::size_t> open = {output}; !open.empty();) {
    const std::size_t next = open.back();
    open.pop_back();
    for (const Feedthrough& direct : network_.feedthrough_to(next)) {
      const auto& link = network_.links()[direct.input];
      const auto free = positions_.find(network_.input_names()[direct.input]);
      if (link && seen.insert(link->output).second) open.push_back(link->output);
      if (!link && free != positions_.end()) inputs.insert(free->second);
    }
  }
  return std::vector<std::size_t>(inputs.begin(), inputs.end());
}

void WholeVariables::add_states(std::size_t k) {
  const SubsystemEntry& entry = model_.subsystems[k];
  const SubsystemDescription& d = entry.description;
  if (!entry.written) return;
  Names given;
  if (entry.type->fmu) given = names_to_give(*entry.type->fmu);
  for (std::size_t i = 0; i < d.states.size(); ++i) {
    const std::string source = d.name + "." + d.states[i].name;
    const std::optional<double> start = entry.type->fmu && !is_in(given, d.states[i].name)
                                            ? std::nullopt
                                            : std::optional(d.states[i].start);
    const auto output = positions_.find(source);
    if (output == positions_.end()) {
      add({.name = fresh(source, "_state"),
           .role = WholeRole::state,
           .source = source,
           .unit = d.states[i].unit,
           .start = start,
           .guessed = model_.start_problem != nullptr,
           .nominal = d.states[i].nominal});
    } else {
      variables_[output->second].start = start;
      variables_[output->second].guessed = model_.start_problem != nullptr;
    }
  }
}

void WholeVariables::add_number(const SubsystemEntry& entry, const std::string& name, double value,
                                const std::string& unit, bool parameter) {
  const SubsystemDescription& d = entry.description;
  if (is_in(names_of(d.states), name) || is_in(names_of(d.inputs), name)) return;
  const std::string source = d.name + "." + name;
  if (const auto output = positions_.find(source); output != positions_.end()) {
    variables_[output->second].start = value;
    return;
  }
  add({.name = fresh(source, parameter ? "_parameter" : "_start"),
       .role = parameter ? WholeRole::parameter : WholeRole::start,
       .source = source,
       .unit = unit,
       .start = value,
       .tunable = parameter && is_in(d.parameters, name),
       .description = parameter ? "" : "where it starts"});
}

void WholeVariables::add_numbers(const SubsystemEntry& entry) {
  if (entry.type->fmu)
    for (const FmuNumber& number : numbers_to_give(*entry.type->fmu))
      add_number(entry, number.name, number.value, "", number.parameter);
  if (!entry.equations) return;
  const auto unit = [&](const std::string& name) {
    const auto found =
        std::ranges::find(entry.equations->units, name, &EquationsDescription::Text::name);
    return found == entry.equations->units.end() ? std::string() : found->text;
  };
  for (const auto& number : entry.equations->parameters)
    add_number(entry, number.name, number.value.value_or(0.0), unit(number.name), true);
  for (const auto& number : entry.equations->discrete)
    add_number(entry, number.name, number.value.value_or(0.0), unit(number.name), false);
}

void WholeVariables::add_estimate() {
  if (simulation_.stepper().errors().missing()) return;
  add({.name = "error_estimate",
       .role = WholeRole::error_estimate,
       .source = {},
       .unit = {},
       .held = true,
       .description = "the run's own estimate of the largest error of its outputs so far, in units "
                      "of each one's range; 1 where nothing is known",
       .depends_on = std::vector<std::size_t>()});
}

}  // namespace

std::vector<WholeVariable> whole_variables(SimulationCore& simulation) {
  return WholeVariables(simulation).list();
}

}  // namespace concord
