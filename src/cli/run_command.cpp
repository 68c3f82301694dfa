#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "checkpoint/run_turn.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/lone_output.hpp"
#include "cli/model_command.hpp"
#include "cli/run.hpp"
#include "cli/session.hpp"
#include "cli/start_time.hpp"
#include "concord/errors.hpp"
#include "concord/program.hpp"
#include "record/results_schema.hpp"
#include "settings/settings.hpp"
#include "settings/unread_options.hpp"
#include "simulation/own_paces.hpp"
#include "simulation/step_listener.hpp"
#include "simulation/stop_signals.hpp"
#include "support/agreement.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
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

/// Of an FMU alone the output that was asked for, too.
template <class Simulate>
auto with_lone_output(const ModelCall& call, const Simulate& simulate) {
  if (call.fmu == nullptr) return simulate();
  const LoneOutput output(*call.fmu, call.model);
  auto ending = simulate();
  output.write();
  return ending;
}

const RegisteredCommand run({
    .name = "run",
    .place = 10,
    .launch = "mpirun -n R ",
    .usage = "MODEL [-options]",
    .summary = "simulate; also runs without mpirun",
    .brief = "simulates; also mpirun -n 4 concord run",
    .description =
        "Simulates the model: rows go into a results file, a summary to standard output.",
    .words = words_of_models(),
    .example = "run model.yaml -cosim_type jfm -cosim_step 1e-2",
    .more_help = options_help,
    .run =
        [](const Arguments& arguments) {
          const StopSignals from_the_first_line_on;
          return with_model(run, arguments, [](ModelCall call) {
            return with_lone_output(
                call, [&] { return run_command(std::move(call.model), call.command_line); });
          });
        },
});

struct ToldRun {
  std::unique_ptr<Run> run;
  int code = 0;
};

/// Where runs begin that are tried: with the first one, or where a checkpoint has stopped them,
/// with the groups of subsystems that they had.
RunTurn first_turn(Model& model) {
  auto found = run_to_go_on(PETSC_COMM_WORLD, read_checkpoint_settings());
  if (!found) return {.repeatable = true};
  take_paces(model, std::move(found->paces));
  return found->turn;
}

/// One run after the other, each as `make` makes it, until one is told: where one has missed the
/// accuracy at little cost, the next aims lower; where none reaches it, the best is run again and
/// told.
template <class Make>
ToldRun run_to_accuracy(Model model, AfterStop after, const Make& make) {
  RunTurn turn = first_turn(model);
  for (;;) {
    model.aim = turn.aim;
    model.largest_step = turn.largest_step;
    std::unique_ptr<Run> run = make(std::move(model), turn);
    try {
      const int code = run->go(after);
      const std::optional<RunTurn> next = run->next();
      if (!next && !run->is_worse()) return {std::move(run), code};
      turn = next.value_or(turn.best());
    } catch (const SimulationError&) {
      if (turn.best_aim == 0.0 || turn.is_best()) throw;
      turn = turn.best();
    }
    model = run->model();
    model.stiff.reset();
    options::clear("cosim_restart");
  }
}

RunEnding run_in_manner(Model model, const std::string& command_line, const RunManner& manner) {
  StepListener listener(manner.step ? manner.step : [](const StepInfo&) {});
  bool begun = false;
  const auto ended =
      run_to_accuracy(std::move(model), AfterStop::program_goes_on, [&](Model one, RunTurn turn) {
        auto plan = announced(std::make_unique<SimulationPlan>(PETSC_COMM_WORLD, std::move(one)));
        if (manner.begins && !begun) manner.begins(plan->settings.start, plan->settings.stop);
        begun = true;
        // Who sees macro-steps sees those of one run.
        turn.repeatable = turn.repeatable && !manner.step;
        return std::make_unique<Run>(std::move(plan), command_line,
                                     manner.tells ? RunTells::all : RunTells::nothing, &listener,
                                     turn);
      });
  return {.status = std::string(to_string(ended.run->status())),
          .reason = ended.run->stop_reason(),
          .signal = ended.run->stop_signal(),
          .without_effect = options_left_unread()};
}

}  // namespace

int run_command(Model model, const std::string& command_line) {
  return run_to_accuracy(std::move(model), AfterStop::program_ends,
                         [&](Model one, RunTurn turn) {
                           auto plan =
                               std::make_unique<SimulationPlan>(PETSC_COMM_WORLD, std::move(one));
                           return std::make_unique<Run>(announced(std::move(plan)), command_line,
                                                        RunTells::all, nullptr, turn);
                         })
      .code;
}

RunEnding run_inside(const std::vector<std::string>& words, const RunManner& manner) {
  Arguments arguments{"concord", "run"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  RunEnding ending;
  with_model_inside(run, arguments, [&](ModelCall call) {
    ending = with_lone_output(
        call, [&] { return run_in_manner(std::move(call.model), call.command_line, manner); });
  });
  return ending;
}

RunEnding run_inside(const ModelBuilder& model, const std::vector<std::string>& words,
                     const RunManner& manner) {
  RunEnding ending;
  inside_session(words, [&] {
    choose_start_time();
    Model built;
    together(PETSC_COMM_WORLD, [&] { built = std::move(*model.source()({})); });
    take_option_files(built, PETSC_COMM_WORLD);
    const std::string call = "concord.run " + model.name() + " " + joined(words, " ");
    ending = run_in_manner(std::move(built), call, manner);
  });
  return ending;
}

}  // namespace concord
