#include "cli/fmu_listing.hpp"

#include <cstdio>
#include <string>

#include "subsystem/fmu/setup.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

void line(const char* name, const std::string& value) {
  if (!value.empty()) std::printf("  %-21s %s\n", name, value.c_str());
}

void print_interface(const ModelDescription& model, const char* name,
                     const std::optional<FmiInterface>& offered) {
  if (!offered) return line(name, "no");
  const FmiInterface& can = *offered;
  const bool exchange = name == std::string("model exchange");
  const bool steps = name == std::string("co-simulation");
  std::string text = "state " + yes_or_no(can.state) + (can.serializes ? " (serializes)" : "") +
                     ", directional derivatives " + yes_or_no(can.directional);
  if (exchange) {
    text += ", completed step needed " + yes_or_no(can.completed_step);
  } else if (steps) {
    text += ", variable steps " + yes_or_no(can.variable_steps) + ", output derivatives to order " +
            std::to_string(can.output_derivative_order);
    text += model.version == FmiVersion::v3
                ? ", event mode " + yes_or_no(can.event_mode) + ", intermediate update " +
                      yes_or_no(can.intermediate_update)
                : ", interpolates inputs " + yes_or_no(can.interpolates);
    if (can.fixed_internal_step > 0.0)
      text += ", fixed internal step " + short_number(can.fixed_internal_step) + " s";
  }
  if (can.only_once_per_process) text += ", once per process";
  if (can.needs_execution_tool) text += ", needs its tool";
  line(name, text);
}

std::string experiment_of(const ModelDescription& model) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<double>& value, const char* unit) {
    if (value)
      text += (text.empty() ? "" : ", ") + std::string(name) + " " + short_number(*value) + unit;
  };
  add("start", model.start, " s");
  add("stop", model.stop, " s");
  add("step", model.step, " s");
  add("tolerance", model.tolerance, "");
  return text.empty() ? "none: 0 to 1 s" : text;
}

std::string dimensions_of(const FmiVariable& variable, const ModelDescription& model) {
  std::string text;
  for (const FmiDimension& dimension : variable.dimensions)
    text += "[" +
            (dimension.parameter ? model.variables[*dimension.parameter].name
                                 : std::to_string(dimension.length)) +
            "]";
  return text;
}

void print_variable(const FmiVariable& variable, const ModelDescription& model) {
  std::string text = std::string(name_of(variable.type)) + dimensions_of(variable, model) + ", " +
                     name_of(variable.causality);
  if (!variable.clock) text += std::string(", ") + name_of(variable.variability);
  if (variable.clock) text += ", " + in_words(*variable.clock);
  if (!variable.clocks.empty()) {
    std::vector<std::string> clocks;
    for (const std::size_t i : variable.clocks) clocks.push_back(model.variables[i].name);
    text += ", at ticks of " + joined(clocks);
  }
  if (!variable.unit.empty())
    text += ", unit " + variable.unit + (variable.relative ? " (a difference)" : "");
  if (!variable.start.empty()) text += ", start " + joined(variable.start, " ");
  if (!variable.items.empty()) {
    std::vector<std::string> items;
    for (const auto& [name, value] : variable.items) items.push_back(name + " = " + value);
    text += ", items " + joined(items);
  }
  if (variable.derivative_of)
    text += ", derivative of " + model.variables[*variable.derivative_of].name;
  if (!variable.aliases.empty()) text += ", also called " + joined(variable.aliases);
  std::printf("  %-21s %s\n", variable.name.c_str(), text.c_str());
}

void print_terminal(const FmiTerminal& terminal, const std::string& before) {
  const std::string name = before + terminal.name;
  std::string text = terminal.rule_name + (terminal.kind.empty() ? "" : ", " + terminal.kind);
  for (const TerminalMember& member : terminal.members) {
    const std::string own = member.name.empty() ? "" : member.name + " = ";
    const char* flow = member.kind == MemberKind::inflow    ? " (inflow)"
                       : member.kind == MemberKind::outflow ? " (outflow)"
                                                            : "";
    text += (&member == &terminal.members.front() ? ": " : ", ") + own + member.variable + flow;
  }
  std::printf("  %-21s %s\n", name.c_str(), text.c_str());
  for (const FmiTerminal& nested : terminal.nested) print_terminal(nested, name + ".");
}

}  // namespace

void print_fmu(const Model& model) {
  const FmuSetup& setup = *model.subsystems.front().type->fmu;
  const ModelDescription& fmu = *setup.model;
  std::printf("FMU %s\n", setup.request.path.string().c_str());
  line("model", fmu.model_name);
  line("FMI version", name_of(fmu.version));
  line("made by", fmu.tool);
  line("token", fmu.token);
  print_interface(fmu, "model exchange", fmu.model_exchange);
  print_interface(fmu, "co-simulation", fmu.co_simulation);
  if (fmu.scheduled_execution) print_interface(fmu, "scheduled execution", fmu.scheduled_execution);
  constexpr const char* roles[] = {"co-simulation", "model exchange", "scheduled execution"};
  line("used as", roles[static_cast<std::size_t>(setup.role)]);
  line("default experiment", experiment_of(fmu));
  line("states", std::to_string(setup.description.states.size()));
  line("event indicators", std::to_string(fmu.event_indicators));
  std::printf("variables:\n");
  for (const FmiVariable& variable : fmu.variables) print_variable(variable, fmu);
  if (!fmu.terminals.empty()) std::printf("terminals:\n");
  for (const FmiTerminal& terminal : fmu.terminals) print_terminal(terminal, "");
}

}  // namespace concord
