#include <algorithm>
#include <cstdio>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/effective_settings.hpp"
#include "cli/fmu_listing.hpp"
#include "cli/model_command.hpp"
#include "concord/errors.hpp"
#include "network/strong_components.hpp"
#include "settings/settings.hpp"
#include "subsystem/fmu/setup.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

const char* yes(bool value) { return value ? "yes" : "no"; }

void print_subsystems(const Model& model) {
  std::printf("subsystems:\n");
  for (const auto& entry : model.subsystems) {
    const auto& d = entry.description;
    const auto& c = d.capabilities;
    std::printf("  %s (%s): %zu inputs, %zu states, %zu outputs\n", d.name.c_str(), d.kind.c_str(),
                d.inputs.size(), d.states.size(), d.outputs.size());
    std::printf(
        "    polynomial inputs %s, output derivatives %s, states %s, state derivatives %s,\n"
        "    linearization %s, rollback %s, equations %s, output curvatures %s\n",
        yes(c.polynomial_inputs), yes(c.output_derivatives), yes(c.states),
        yes(c.state_derivatives), yes(c.linearization), yes(c.rollback), yes(c.equations),
        yes(c.output_curvatures));
    for (const auto& remark : d.remarks) {
      std::printf("    %s\n", remark.c_str());
    }
  }
}

/// An FMU that cannot be loaded is wrong input; one that crashes is not loaded once more.
void require_loading(const SubsystemEntry& entry, std::span<const std::string> found) {
  const auto says = [&](const char* text) {
    return std::any_of(found.begin(), found.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  };
  if (says("CRASHES while loading")) {
    throw InputError(entry.location + ": subsystem '" + entry.description.name +
                     "': its binary crashes while it is loaded; export the FMU again");
  }
  if (entry.fmu && !says("CRASHES") && !says("no end after")) {
    entry.fmu->source(entry.fmu->use);
  }
}

/// Claimed against found, by a child process per subsystem that can be tried.
void print_probes(const Model& model) {
  std::printf("probe:\n");
  for (const auto& entry : model.subsystems) {
    if (!entry.probe) {
      continue;
    }
    std::printf("  %s:\n", entry.description.name.c_str());
    std::fflush(stdout);
    const auto found = entry.probe();
    for (const auto& line : found) {
      std::printf("    %s\n", line.c_str());
    }
    require_loading(entry, found);
  }
}

void print_connections(const Network& network) {
  std::printf("connections:\n");
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    const auto& link = network.links()[i];
    if (!link) {
      std::printf("  (start value) -> %s\n", network.input_names()[i].c_str());
      continue;
    }
    std::printf("  %s -> %s", network.output_names()[link->output].c_str(),
                network.input_names()[i].c_str());
    if (link->factor != 1.0) {
      std::printf(" times %.12g", link->factor);
    }
    if (link->offset != 0.0) {
      std::printf(" plus %.12g", link->offset);
    }
    std::printf("\n");
  }
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

void print_feedthrough(const Model& model, const Network& network) {
  std::printf("direct feedthrough:\n");
  for (const auto& [output, input] : network.feedthrough()) {
    std::printf("  %s -> %s\n", network.input_names()[input].c_str(),
                network.output_names()[output].c_str());
  }
  if (network.feedthrough().empty()) {
    std::printf("  none\n");
  }
  std::printf("algebraic loops:\n");
  for (const auto& component : network.components()) {
    if (component.loop) {
      std::printf("  %s%s\n", network.describe_loop(component).c_str(),
                  unwatched(model, network, component).c_str());
    }
  }
  if (!network.has_loops()) {
    std::printf("  none\n");
  }
}

/// Subsystems in an order in which each comes after those whose outputs its own outputs depend on
/// directly; members of a loop in braces.
void print_order(const Model& model, const Network& network) {
  std::vector<std::vector<std::size_t>> successors(network.n_subsystems());
  for (const auto& [output, input] : network.feedthrough()) {
    if (const auto& link = network.links()[input]) {
      successors[network.subsystem_of_output(link->output)].push_back(
          network.subsystem_of_output(output));
    }
  }
  std::printf("execution order:");
  for (const auto& group : strong_components(successors)) {
    std::printf(group.size() > 1 ? " {" : "");
    for (const std::size_t k : group) {
      std::printf(" %s", model.subsystems[k].description.name.c_str());
    }
    std::printf(group.size() > 1 ? " }" : "");
  }
  std::printf("\n");
}

void print_methods(const Model& model) {
  std::printf("methods:\n");
  for (const auto& method : method_presets()) {
    const auto missing = missing_capabilities(method, model);
    std::printf("  %-18s %s\n", method.type.c_str(),
                missing.empty() ? "can run" : ("cannot run: " + joined(missing, "; ")).c_str());
  }
}

/// What an iterative method does with each subsystem.
void print_roles(const Method& method, const Model& model) {
  if (!missing_capabilities(method, model).empty()) {
    return;
  }
  const IterationRoles roles = iteration_roles(model);
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? std::string("none") : joined(names);
  };
  std::printf("under %s:\n", method.type.c_str());
  std::printf("  integrated at each coupling evaluation: %s\n", list(roles.iterated).c_str());
  std::printf("  replaced by their estimators, then integrated once (no rollback): %s\n",
              list(roles.estimated).c_str());
}

int explain(ModelCall call) {
  Model& model = call.model;
  const Network network(model);
  const Settings settings = read_settings_for_check(model);
  const int rank = rank_in(PETSC_COMM_WORLD);
  if (rank != 0) {
    return 0;
  }
  if (call.fmu != nullptr) {
    print_fmu(model);
  }
  std::printf("model %s: t in [%g, %g] s\n", model.name.c_str(), settings.start, settings.stop);
  for (const auto& note : model.notes) {
    std::printf("note: %s\n", note.c_str());
  }
  print_subsystems(model);
  print_connections(network);
  print_feedthrough(model, network);
  print_order(model, network);
  std::printf("schedule: %s\n", described_schedule(settings.method, model).c_str());
  std::printf("events: %s\n", described_events(settings.events, model).c_str());
  print_without_effect(settings);
  print_methods(model);
  const Method& iterative =
      settings.method.solve.iterates ? settings.method : method_presets().front();
  print_roles(iterative, model);
  if (call.own.has("probe")) {
    print_probes(model);
  }
  return 0;
}

const RegisteredCommand check({
    .name = "check",
    .place = 20,
    .usage = "MODEL [--probe] [-options]",
    .summary = "validate and explain a model; --probe tries\nwhat its FMUs claim",
    .description = "Validates and explains a model: subsystems, capabilities, connections, direct "
                   "feedthrough,\nalgebraic loops, execution order, and which methods can run.",
    .words = words_of_models({{.name = "probe", .help = "try what the model's FMUs claim"}}),
    .example = "check model.yaml --probe",
    .more_help = options_help,
    .run = [](const Arguments& arguments) { return with_model(check, arguments, explain); },
});

}  // namespace

}  // namespace concord
