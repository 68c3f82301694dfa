#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/lone_output.hpp"
#include "cli/model_command.hpp"
#include "cli/run.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

/// What is about to be started, which may take a while.
std::unique_ptr<SimulationPlan> announced(std::unique_ptr<SimulationPlan> plan) {
  if (rank_in(plan->comm) == 0 && plan->settings.progress) {
    const int ranks = ranks_of(plan->comm);
    const std::size_t count = plan->network.n_subsystems();
    std::fprintf(stderr, "%s: %s, %zu subsystem%s on %d rank%s, t from %g to %g s\n",
                 plan->model.name.c_str(), plan->settings.method.type.c_str(), count,
                 count == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s", plan->settings.start,
                 plan->settings.stop);
  }
  return plan;
}

const RegisteredCommand run({
    .name = "run",
    .place = 10,
    .launch = "mpirun -n R ",
    .usage = "MODEL [-options]",
    .summary = "simulate; also runs without mpirun",
    .description =
        "Simulates the model: rows go into a results file, a summary to standard output.",
    .words = words_of_models(),
    .example = "run model.yaml -cosim_type jfm -cosim_step 1e-2",
    .more_help = options_help,
    .run =
        [](const Arguments& arguments) {
          return with_model(run, arguments, [](ModelCall call) {
            if (call.fmu == nullptr) return run_command(std::move(call.model), call.command_line);
            const LoneOutput output(*call.fmu, call.model);
            const int code = run_command(std::move(call.model), call.command_line);
            output.write();
            return code;
          });
        },
});

}  // namespace

int run_command(Model model, const std::string& command_line) {
  auto plan = std::make_unique<SimulationPlan>(PETSC_COMM_WORLD, std::move(model));
  return Run(announced(std::move(plan)), command_line, RunTells::all).go();
}

}  // namespace concord
