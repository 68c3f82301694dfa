#include <cstdio>
#include <set>
#include <string>

#include "cli/check_listing.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/effective_settings.hpp"
#include "cli/fmu_listing.hpp"
#include "cli/model_command.hpp"
#include "cli/pace_listing.hpp"
#include "cli/summary.hpp"
#include "concord/errors.hpp"
#include "files/child_process.hpp"
#include "settings/accuracy.hpp"
#include "settings/settings.hpp"
#include "simulation/own_paces.hpp"
#include "simulation/simulation_core.hpp"
#include "subsystem/code_of_others.hpp"
#include "subsystem/equations/equations_description.hpp"
#include "subsystem/fmu/setup.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

/// Why the FMU's binary cannot be loaded, in a child process; empty where it can.
std::string refusal_to_load(const FmuSetup& setup) {
  constexpr unsigned longest = 60;  // seconds
  const ChildReport report =
      in_child_process(longest, [&](const auto&) { setup.source(setup.use); });
  const std::string stopped = "stopped ";
  for (const std::string& record : report.records) {
    if (record.starts_with(stopped)) {
      return record.substr(stopped.size());
    }
  }
  if (report.ended) {
    return "";
  }
  return setup.request.path.string() +
         (report.late ? ": its binary is not loaded within a minute"
                      : ": its binary crashes while it is loaded") +
         "; export the FMU again";
}

/// An FMU that cannot be loaded is wrong input. Each is loaded once, however often it is used.
void require_loading(const Model& model) {
  std::set<std::string> loaded;
  for (const SubsystemEntry& entry : model.subsystems) {
    if (!entry.type->fmu ||
        !loaded.insert(entry.type->fmu->folder / entry.type->fmu->interface().model_identifier)
             .second) {
      continue;
    }
    const std::string refusal = refusal_to_load(*entry.type->fmu);
    if (!refusal.empty()) {
      throw InputError(entry.location + ": subsystem '" + entry.description.name + "': " + refusal);
    }
  }
}

/// Claimed against found, by a child process per subsystem that can be tried.
void print_probes(const Model& model) {
  std::printf("probe:\n");
  for (const auto& entry : model.subsystems) {
    if (!entry.type->probe) {
      continue;
    }
    std::printf("  %s:\n", entry.description.name.c_str());
    std::fflush(stdout);
    const auto found = entry.type->probe();
    for (const auto& line : found) {
      std::printf("    %s\n", line.c_str());
    }
  }
}

void print_methods(const Model& model) {
  std::printf("methods:\n");
  for (const auto& method : method_presets()) {
    const auto missing = missing_capabilities(method, model);
    std::printf("  %-18s %s\n", method.type.c_str(),
                missing.empty() ? "can run" : ("cannot run: " + joined(missing, "; ")).c_str());
  }
}

/// As -cosim_accuracy chooses.
void print_recommended(const Model& model) {
  const RecommendedMethod method = recommended_method(model);
  std::printf("recommended: %s (%s)\n", method.type.c_str(), method.why.c_str());
  for (const std::string& other : method.passed_over) {
    std::printf("  not %s\n", other.c_str());
  }
}

/// What an iterative method does with each subsystem.
void print_roles(const Method& method, const Model& model, const CheckListing& listing) {
  if (!missing_capabilities(method, model).empty()) {
    return;
  }
  const IterationRoles roles = iteration_roles(model);
  std::printf("under %s:\n", method.type.c_str());
  std::printf("  integrated at each coupling evaluation: %s\n",
              listing.list(roles.iterated).c_str());
  std::printf("  replaced by their estimators, then integrated once (no rollback): %s\n",
              listing.list(roles.estimated).c_str());
}

/// Whether a condition may be true at the start and not act there, of models that can be started
/// without foreign code.
bool may_begin_idle(const Model& model) {
  const auto own = [](const SubsystemEntry& entry) {
    return !is_code_of_others(entry.description) && !entry.isolated;
  };
  const auto conditional = [](const SubsystemEntry& entry) {
    return entry.equations &&
           std::any_of(entry.equations->whens.begin(), entry.equations->whens.end(),
                       [](const auto& when) { return !when.every && !when.initially; });
  };
  return std::all_of(model.subsystems.begin(), model.subsystems.end(), own) &&
         std::any_of(model.subsystems.begin(), model.subsystems.end(), conditional);
}

/// What only a start shows; a model that cannot start says so when it is run. Collective.
std::string idle_at_start(const Model& model) {
  if (!may_begin_idle(model)) {
    return "";
  }
  try {
    SimulationCore simulation(std::make_unique<SimulationPlan>(PETSC_COMM_WORLD, model));
    simulation.start();
    return simulation.stepper().events().idle_at_start();
  } catch (const InputError&) {
  } catch (const SimulationError&) {
  }
  return "";
}

/// Nothing where they are not asked for. Collective.
std::optional<Paces> paces_of(Model model) {
  if (read_settings_for_check(model).paces == OwnPaces::one) return std::nullopt;
  find_paces(model, PETSC_COMM_WORLD);
  return model.paces;
}

int explain(ModelCall call) {
  Model& model = call.model;
  const std::optional<Paces> paces = paces_of(model);
  const std::string idle = idle_at_start(model);
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
  if (!idle.empty()) {
    std::printf("note: %s\n", note_on_idle_conditions(idle).c_str());
  }
  const CheckListing listing(model, network, call.own.has("verbose"));
  listing.print_subsystems();
  listing.print_connections();
  listing.print_feedthrough();
  listing.print_order();
  listing.print_initial();
  std::printf("schedule: %s\n", described_schedule(settings.method, model).c_str());
  std::printf("events: %s\n", described_events(settings.events, model).c_str());
  if (paces) print_pace_listing(*paces);
  print_without_effect(settings);
  print_methods(model);
  print_recommended(model);
  const Method& iterative =
      settings.method.solve.iterates ? settings.method : method_presets().front();
  print_roles(iterative, model, listing);
  if (call.own.has("probe")) {
    print_probes(model);
  }
  std::fflush(stdout);
  require_loading(model);
  return 0;
}

const RegisteredCommand check({
    .name = "check",
    .place = 20,
    .usage = "MODEL [-v] [--probe] [-options]",
    .summary = "validate and explain a model; --probe tries\nwhat its FMUs claim",
    .brief = "explains a model and finds its mistakes, simulates nothing",
    .description = "Validates and explains a model: subsystems, capabilities, connections, direct "
                   "feedthrough,\nalgebraic loops, execution order, and which methods can run.",
    .words = words_of_models({{.name = "probe", .help = "try what the model's FMUs claim"},
                              {.name = "verbose",
                               .letter = 'v',
                               .help = "every line, of models with more than 50 subsystems, too"}}),
    .example = "check model.yaml --probe",
    .more_help = options_help,
    .run = [](const Arguments& arguments) { return with_model(check, arguments, explain); },
});

}  // namespace

}  // namespace concord
